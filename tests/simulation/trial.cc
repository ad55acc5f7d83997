#include "trial.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "possible_file.h"
#include "sim/job/job.h"
#include "sim/lustre/faults.h"
#include "testing/faults/faulty_store.h"

namespace nacre::simulation {
namespace {

using collective::fixtures::Bytes;
using collective::fixtures::RankAccess;
using Findings = std::optional<std::string>;

constexpr sim::SimulatedTime time_max = sim::SimulatedTime{600} * 1'000'000'000;

/// What a call returned on one rank.
struct Returned {
  std::int64_t bytes = 0;
  std::optional<Error> error;
};

/// What a step returned, by rank. The view is set before accesses.
struct StepResults {
  std::vector<Returned> views;
  std::vector<Returned> calls;
};

std::optional<Error> error_of(const Status& status) {
  return status ? std::nullopt : std::optional(status.error());
}

bool accesses(Action action) { return action != Action::sync && action != Action::resize; }
bool writes(Action action) { return action == Action::write_all || action == Action::write_each; }

class Trial {
 public:
  explicit Trial(const Program& program)
      : program_(program),
        rank_count_(static_cast<std::size_t>(program.nodes.rank_count())),
        steps_(program.steps),
        results_(steps_.size()),
        opened_(rank_count_),
        closed_(rank_count_) {
    for (StepResults& step : results_) {
      step.views.resize(rank_count_);
      step.calls.resize(rank_count_);
    }
  }

  Findings run() {
    const auto job = sim::Job::make(settings());
    if (!job) return job.error().message;
    for (const ServerFault& fault : program_.server_faults) order(**job, fault);
    const Status ended = (*job)->run([this](sim::RankOfJob& self) { act(self); }, time_max);
    if (!ended) return ended.error().message;
    const Result<Bytes> contents = (*job)->files().contents("f");
    return evaluate(contents ? *contents : Bytes{});
  }

 private:
  [[nodiscard]] sim::JobSettings settings() const {
    sim::JobSettings settings;
    settings.machine = program_.machine;
    settings.nodes = program_.nodes;
    settings.buffered_bytes_max = program_.buffered_bytes_max;
    settings.with_faults = [this](std::shared_ptr<store::Store> store,
                                  int rank) -> std::shared_ptr<store::Store> {
      std::string rules;
      for (const std::string& fault : program_.store_faults) {
        rules += (rules.empty() ? "" : ";") + fault;
      }
      if (rules.empty()) return store;
      return std::make_shared<testing::FaultyStore>(std::move(store),
                                                    testing::parse_fault_plan(rules).value(), rank);
    };
    return settings;
  }

  static void order(sim::Job& job, const ServerFault& fault) {
    const sim::FaultOrder parsed = sim::parse_fault(fault.words, job.machine()).value();
    job.scheduler().at(fault.at_nanoseconds,
                       [&job, parsed] { static_cast<void>(job.files().costs().order(parsed)); });
  }

  /// The program of one rank.
  void act(sim::RankOfJob& self) {
    const auto rank = static_cast<std::size_t>(self.rank());
    const auto file = self.open("f", {.read = true, .write = true, .create = true}, program_.hints);
    opened_[rank].error = file ? std::nullopt : std::optional(file.error());
    if (!file) return;
    for (std::size_t step = 0; step < steps_.size(); ++step) take(self, **file, step);
    closed_[rank].error = error_of(self.run((*file)->close()));
  }

  void take(sim::RankOfJob& self, file::OpenFile& file, std::size_t number) {
    const auto rank = static_cast<std::size_t>(self.rank());
    Step& step = steps_[number];
    Returned& returned = results_[number].calls[rank];
    if (step.action == Action::sync) {
      returned.error = error_of(self.run(file.sync()));
      return;
    }
    if (step.action == Action::resize) {
      returned.error = error_of(self.run(file.resize(step.size_bytes)));
      return;
    }
    RankAccess& own = step.accesses[rank];
    results_[number].views[rank].error =
        error_of(self.run(file.set_view({.map = own.file.view}, {}, std::nullopt)));
    const file::Access access{writes(step.action) ? plan::Direction::write : plan::Direction::read,
                              file::Position::explicit_offset, own.file.first_byte, own.memory(),
                              nullptr};
    const file::Outcome outcome = step.action == Action::write_each
                                      ? file.transfer(access)
                                      : self.run(file.transfer_all(access, std::nullopt));
    returned = {outcome.bytes, outcome.error};
  }

  // ---- evaluation ----

  Findings evaluate(const Bytes& contents) {
    if (Findings wrong = disagreement(opened_, "open")) return wrong;
    if (opened_.front().error) return std::nullopt;
    for (std::size_t step = 0; step < steps_.size(); ++step) {
      Findings wrong = evaluate_step(step);
      if (wrong) return "step " + std::to_string(step) + ": " + *wrong;
    }
    if (Findings wrong = disagreement(closed_, "close")) return wrong;
    return possible_.misfit(contents);
  }

  Findings evaluate_step(std::size_t number) {
    const Step& step = steps_[number];
    const std::vector<Returned>& calls = results_[number].calls;
    const bool is_collective = step.action != Action::write_each;
    if (Findings wrong = disagreement(results_[number].views, "set_view")) return wrong;
    if (Findings wrong = is_collective ? disagreement(calls, "call") : needless(calls)) {
      return wrong;
    }
    if (step.action == Action::resize) possible_.resize(step.size_bytes, !calls.front().error);
    if (!accesses(step.action)) return std::nullopt;
    if (results_[number].views.front().error) return std::nullopt;
    if (writes(step.action)) return evaluate_write(step, calls, program_.steps[number]);
    return evaluate_read(step, calls, program_.steps[number]);
  }

  Findings evaluate_write(const Step& step, const std::vector<Returned>& calls,
                          const Step& before) {
    std::vector<bool> succeeded;
    for (std::size_t rank = 0; rank < rank_count_; ++rank) {
      const RankAccess& access = step.accesses[rank];
      succeeded.push_back(!calls[rank].error);
      if (!calls[rank].error && calls[rank].bytes != access.file.byte_count) {
        return "rank " + std::to_string(rank) + " wrote " + std::to_string(calls[rank].bytes) +
               " of " + std::to_string(access.file.byte_count) + " bytes without an error";
      }
      if (access.buffer != before.accesses[rank].buffer) return "a write changed its buffer";
    }
    possible_.write(step.accesses, succeeded);
    return std::nullopt;
  }

  Findings evaluate_read(const Step& step, const std::vector<Returned>& calls, const Step& before) {
    for (std::size_t rank = 0; rank < rank_count_; ++rank) {
      if (calls[rank].error) continue;
      Findings wrong =
          possible_.misfit(step.accesses[rank], before.accesses[rank].buffer, calls[rank].bytes);
      if (wrong) return "rank " + std::to_string(rank) + ": " + *wrong;
    }
    return std::nullopt;
  }

  /// Ranks that return different classes of errors, or an error without a fault.
  [[nodiscard]] Findings disagreement(const std::vector<Returned>& ranks, const char* call) const {
    const auto class_of = [](const Returned& one) {
      return one.error ? std::optional(one.error->error_class) : std::nullopt;
    };
    for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
      if (class_of(ranks[rank]) == class_of(ranks.front())) continue;
      return std::string(call) + ": rank 0 returned \"" + message_of(ranks.front()) + "\", rank " +
             std::to_string(rank) + " \"" + message_of(ranks[rank]) + "\"";
    }
    return needless(ranks);
  }

  /// An error without a fault.
  [[nodiscard]] Findings needless(const std::vector<Returned>& ranks) const {
    if (program_.has_faults()) return std::nullopt;
    for (const Returned& one : ranks) {
      if (one.error) return "failed without a fault: " + one.error->message;
    }
    return std::nullopt;
  }

  static std::string message_of(const Returned& one) {
    return one.error ? one.error->message : "success";
  }

  const Program& program_;
  const std::size_t rank_count_;
  std::vector<Step> steps_;  // with the buffers of this run
  std::vector<StepResults> results_;
  std::vector<Returned> opened_;
  std::vector<Returned> closed_;
  PossibleFile possible_;
};

/// Tries to leave out each of `count` parts in turn.
void leave_out(const Program& program, std::size_t count, Omissions& omissions,
               std::vector<std::size_t> Omissions::*parts) {
  for (std::size_t part = 0; part < count; ++part) {
    Omissions more = omissions;
    (more.*parts).push_back(part);
    if (try_out(without(program, more))) omissions = std::move(more);
  }
}

}  // namespace

std::optional<std::string> try_out(const Program& program) { return Trial(program).run(); }

Omissions shrink(const Program& program) {
  Omissions omissions;
  leave_out(program, program.steps.size(), omissions, &Omissions::steps);
  leave_out(program, program.server_faults.size(), omissions, &Omissions::server_faults);
  leave_out(program, program.store_faults.size(), omissions, &Omissions::store_faults);
  return omissions;
}

}  // namespace nacre::simulation
