#include "trial.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "live_memory.h"
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

/// What a step returned, by rank. The view is set before accesses, and then the shared pointer.
struct StepResults {
  std::vector<Returned> views;
  std::vector<Returned> seeks;
  std::vector<Returned> calls;
  std::vector<Returned> beside;
};

std::optional<Error> error_of(const Status& status) {
  return status ? std::nullopt : std::optional(status.error());
}

bool accesses(Action action) { return action != Action::sync && action != Action::resize; }
bool writes(Action action) { return accesses(action) && action != Action::read_all; }
bool is_by_shared_pointer(Action action) {
  return action == Action::write_ordered || action == Action::write_shared;
}
bool is_collective(Action action) {
  return action != Action::write_each && action != Action::write_shared;
}

/// What the process holds.
struct Held {
  std::int64_t bytes = 0;
  std::int64_t descriptors = 0;
};

Held held() {
  Held now;
  now.bytes = live_bytes();
  std::error_code ignored;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", ignored), end; entry != end;
       ++entry) {
    ++now.descriptors;
  }
  return now;
}

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
      for (auto* const results : {&step.views, &step.seeks, &step.calls, &step.beside}) {
        results->resize(rank_count_);
      }
    }
  }

  [[nodiscard]] std::string errors() const {
    std::string words;
    add_errors("open", opened_, words);
    for (std::size_t step = 0; step < results_.size(); ++step) {
      const std::size_t length = words.size();
      add_errors("view", results_[step].views, words);
      add_errors("seek", results_[step].seeks, words);
      add_errors("call", results_[step].calls, words);
      add_errors("write meanwhile", results_[step].beside, words);
      if (words.size() > length) words.insert(length, "step " + std::to_string(step) + ":\n");
    }
    add_errors("close", closed_, words);
    return words;
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
    StepResults& results = results_[number];
    results.views[rank].error =
        error_of(self.run(file.set_view({.map = own.file.view}, {}, std::nullopt)));
    if (results.views[rank].error) return;  // the file has its view from before
    if (is_by_shared_pointer(step.action)) {
      const auto from = file::Whence::set;
      results.seeks[rank].error =
          error_of(self.run(file.seek_shared(step.size_bytes, from, std::nullopt)));
      if (results.seeks[rank].error) return;
    }
    const file::Outcome outcome = access(self, file, step, results.beside[rank]);
    returned = {outcome.bytes, outcome.error};
  }

  static file::Access access_of(RankAccess& own, Action action) {
    const auto direction = writes(action) ? plan::Direction::write : plan::Direction::read;
    if (action == Action::write_ordered) {
      return {direction, file::Position::ordered, 0, own.memory(), nullptr};
    }
    if (action == Action::write_shared) {
      return {direction, file::Position::shared, 0, own.memory(), nullptr};
    }
    return {direction, file::Position::explicit_offset, own.file.first_byte, own.memory(), nullptr};
  }

  /// The access of a rank. `beside`: what the write meanwhile returned.
  static file::Outcome access(sim::RankOfJob& self, file::OpenFile& file, Step& step,
                              Returned& beside) {
    const auto rank = static_cast<std::size_t>(self.rank());
    const file::Access own = access_of(step.accesses[rank], step.action);
    if (!is_collective(step.action)) return file.transfer(own);
    if (step.action != Action::write_ahead) return self.run(file.transfer_all(own, std::nullopt));
    const auto pending = self.start(file.transfer_all(own, std::nullopt));
    pending->advance();
    const file::Outcome outcome = file.transfer(access_of(step.beside[rank], step.action));
    beside = {outcome.bytes, outcome.error};
    pending->advance();
    pending->finish();
    return std::move(pending->value());
  }

  void add_errors(const char* call, const std::vector<Returned>& ranks, std::string& words) const {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      if (!ranks[rank].error) continue;
      words += std::string(call) + " of rank " + std::to_string(rank) + ": " +
               ranks[rank].error->message + "\n";
    }
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
    const StepResults& results = results_[number];
    const std::vector<Returned>& calls = results.calls;
    if (Findings wrong = disagreement(results.views, "set_view")) return wrong;
    if (Findings wrong = disagreement(results.seeks, "seek_shared")) return wrong;
    if (Findings wrong = needless(results.beside)) return wrong;
    Findings wrong = is_collective(step.action) ? disagreement(calls, "call") : needless(calls);
    if (wrong) return wrong;
    note_loss(step.action, results);
    if (step.action == Action::resize) possible_.resize(step.size_bytes, !calls.front().error);
    if (!accesses(step.action)) return std::nullopt;
    if (results.views.front().error || results.seeks.front().error) return std::nullopt;
    if (writes(step.action)) {
      wrong = evaluate_write(number);
      note_loss(step.action, results);
      return wrong;
    }
    return evaluate_read(step, calls, program_.steps[number]);
  }

  /// If a node is evicted, writes may be lost until a sync has followed. Some call has then failed.
  void note_loss(Action action, const StepResults& results) {
    if (!program_.evicts()) return;
    const auto failed = [](const Returned& one) { return one.error.has_value(); };
    for (const auto* const all :
         {&results.views, &results.seeks, &results.calls, &results.beside}) {
      if (std::ranges::any_of(*all, failed)) possible_.lose_unsynced();
    }
    if (action == Action::sync && !results.calls.front().error) possible_.sync();
  }

  Findings evaluate_write(std::size_t number) {
    const Step& step = steps_[number];
    const StepResults& results = results_[number];
    std::vector<RankAccess> all;
    std::vector<bool> succeeded;
    if (Findings wrong =
            check_writes(step.accesses, program_.steps[number].accesses, results.calls)) {
      return wrong;
    }
    if (Findings wrong = check_writes(step.beside, program_.steps[number].beside, results.beside)) {
      return wrong;
    }
    const auto failed = [](const Returned& one) { return one.error.has_value(); };
    const bool all_succeeded = std::ranges::none_of(results.calls, failed);
    for (std::size_t rank = 0; rank < rank_count_; ++rank) {
      if (step.action == Action::write_shared) {
        // The ranks may have written in any order.
        for (const RankAccess& place : step.accesses) {
          all.push_back(step.accesses[rank]);
          all.back().file.first_byte = place.file.first_byte;
          succeeded.push_back(all_succeeded);
        }
        continue;
      }
      all.push_back(step.accesses[rank]);
      succeeded.push_back(!results.calls[rank].error);
      if (step.beside.empty()) continue;
      all.push_back(step.beside[rank]);
      succeeded.push_back(!results.beside[rank].error);
    }
    possible_.write(all, succeeded, program_.evicts());
    return std::nullopt;
  }

  [[nodiscard]] Findings check_writes(const std::vector<RankAccess>& accesses,
                                      const std::vector<RankAccess>& before,
                                      const std::vector<Returned>& calls) const {
    for (std::size_t rank = 0; rank < accesses.size(); ++rank) {
      const RankAccess& access = accesses[rank];
      if (!calls[rank].error && calls[rank].bytes != access.file.byte_count) {
        return "rank " + std::to_string(rank) + " wrote " + std::to_string(calls[rank].bytes) +
               " of " + std::to_string(access.file.byte_count) + " bytes without an error";
      }
      if (access.buffer != before[rank].buffer) return "a write changed its buffer";
    }
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

std::optional<std::string> try_out(const Program& program) {
  const Held before = held();
  if (Findings wrong = Trial(program).run()) return wrong;
  const Held after = held();
  if (after.descriptors != before.descriptors) {
    return "the run left " + std::to_string(after.descriptors - before.descriptors) +
           " descriptors";
  }
  if (after.bytes <= before.bytes) return std::nullopt;
  // The first run may have filled what the process keeps, such as tables.
  if (Findings wrong = Trial(program).run()) return wrong;
  const std::int64_t left = held().bytes - after.bytes;
  if (left <= 0) return std::nullopt;
  return "each run leaves " + std::to_string(left) + " bytes of memory";
}

std::string errors_of(const Program& program) {
  Trial trial(program);
  static_cast<void>(trial.run());
  return trial.errors();
}

Omissions shrink(const Program& program) {
  Omissions omissions;
  leave_out(program, program.steps.size(), omissions, &Omissions::steps);
  leave_out(program, program.server_faults.size(), omissions, &Omissions::server_faults);
  leave_out(program, program.store_faults.size(), omissions, &Omissions::store_faults);
  return omissions;
}

}  // namespace nacre::simulation
