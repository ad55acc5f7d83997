#include "trial.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "intruder.h"
#include "late_store.h"
#include "live_memory.h"
#include "plan/layout/layout_growth.h"
#include "plan/layout/lov_codec.h"
#include "possible_file.h"
#include "sim/job/job.h"
#include "sim/lustre/faults.h"
#include "testing/faults/faulty_store.h"

namespace nacre::simulation {
namespace {

using collective::fixtures::Bytes;
using collective::fixtures::RankAccess;
using Findings = std::optional<std::string>;

constexpr sim::SimulatedTime second = 1'000'000'000;
/// Of a program in which nothing is late, hangs or is slow.
constexpr sim::SimulatedTime time_max = 60 * second;
constexpr std::int64_t slowness_max = 20;  // of an OST that is slow
/// Of the process, and for each rank: twice what some thousand programs took. A file of up to 7 MiB
/// is in memory, possibly with the buffers of a process that reads or migrates it.
constexpr std::int64_t peak_bytes_max = 32 << 20;
constexpr std::int64_t peak_bytes_max_of_rank = 1 << 20;
/// Of the memory that the ranks of a node share, for each rank of the job: each may be an
/// aggregator with four cycle buffers of a stripe (64 KiB), their marks and a few words for each
/// rank.
constexpr std::int64_t shared_bytes_max_of_rank = 4 * (std::int64_t{72} << 10) + (8 << 10);

/// What a call returned on one rank.
struct Returned {
  std::int64_t bytes = 0;
  std::optional<Error> error;
};
using ByRank = std::vector<Returned>;

/// What a step returned. The view is set before accesses, and then the shared pointer.
struct StepResults {
  ByRank views;
  ByRank seeks;
  std::vector<ByRank> calls;  // at least one
  ByRank beside;
};

std::optional<Error> error_of(const Status& status) {
  return status ? std::nullopt : std::optional(status.error());
}

bool has_failed(const Returned& one) { return one.error.has_value(); }

bool accesses(Action action) {
  return action != Action::sync && action != Action::resize && action != Action::preallocate &&
         action != Action::set_atomicity;
}
bool reads(Action action) {
  return action == Action::read_all || action == Action::read_each ||
         action == Action::read_ordered;
}
bool is_by_shared_pointer(Action action) {
  return action == Action::write_ordered || action == Action::read_ordered ||
         action == Action::write_shared;
}
bool is_collective(Action action) {
  return action != Action::write_each && action != Action::read_each &&
         action != Action::write_shared;
}

/// The longest virtual time that a program may take.
sim::SimulatedTime time_limit(const Program& program) {
  sim::SimulatedTime limit = time_max;
  for (const Fault& fault : program.faults) {
    if (const auto* const server = std::get_if<ServerFault>(&fault)) {
      limit += server->at_nanoseconds;
      if (server->words.find("slow") != std::string::npos) limit += time_max * slowness_max;
    }
    if (const auto* const late = std::get_if<LateCall>(&fault)) limit += late->nanoseconds;
    // A chain of messages, each of which waits for the one before.
    if (const auto* const late = std::get_if<LateMessages>(&fault)) {
      limit += late->nanoseconds_max * 10'000;
    }
  }
  return limit;
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

/// Whether each allocation of one kind fails, in turn.
class Refusals {
 public:
  Refusals(const Program& program, bool shared) {
    for (const Fault& fault : program.faults) {
      const auto* const refused = std::get_if<RefusedMemory>(&fault);
      if (refused != nullptr && refused->is_shared == shared) faults_.push_back(*refused);
    }
  }
  bool next() {
    ++count_;
    return std::ranges::any_of(faults_, [&](const RefusedMemory& one) {
      return count_ == one.nth || (one.repeats && count_ > one.nth);
    });
  }

 private:
  std::vector<RefusedMemory> faults_;
  std::int64_t count_ = 0;
};

class Trial {
 public:
  explicit Trial(const Program& program)
      : program_(program),
        rank_count_(static_cast<std::size_t>(program.nodes.rank_count())),
        steps_(program.steps),
        results_(steps_.size()),
        opened_(rank_count_),
        closed_(rank_count_),
        random_(program.seed),
        refusals_(program, true) {
    for (std::size_t step = 0; step < steps_.size(); ++step) {
      StepResults& results = results_[step];
      for (auto* const by_rank : {&results.views, &results.seeks, &results.beside}) {
        by_rank->resize(rank_count_);
      }
      const std::size_t call_count = std::max<std::size_t>(1, steps_[step].calls.size());
      results.calls.assign(call_count, ByRank(rank_count_));
    }
  }

  [[nodiscard]] std::string errors() const {
    std::string words;
    add_errors("open", opened_, words);
    for (std::size_t step = 0; step < results_.size(); ++step) {
      const std::size_t length = words.size();
      add_errors("view", results_[step].views, words);
      add_errors("seek", results_[step].seeks, words);
      for (const ByRank& call : results_[step].calls) add_errors("call", call, words);
      add_errors("access meanwhile", results_[step].beside, words);
      if (words.size() > length) words.insert(length, "step " + std::to_string(step) + ":\n");
    }
    add_errors("close", closed_, words);
    return words;
  }

  Findings run() {
    const auto made = sim::Job::make(settings());
    if (!made) return made.error().message;
    sim::Job& job = **made;
    job_ = &job;
    for (const Fault& fault : program_.faults) {
      if (const auto* const server = std::get_if<ServerFault>(&fault)) order(job, *server);
      if (const auto* const other = std::get_if<Intrusion>(&fault))
        start_intruder(job, *other, "f");
    }
    Refusals refusals(program_, false);
    refuse_memory([&] { return refusals.next(); });
    static_cast<void>(take_peak_bytes());
    const std::int64_t bytes_before = live_bytes();
    const Status ended = job.run([this](sim::RankOfJob& self) { act(self); }, time_limit(program_));
    refuse_memory(nullptr);
    if (!ended) return ended.error().message;
    if (Findings wrong = excess(take_peak_bytes() - bytes_before)) return wrong;
    const Result<Bytes> contents = job.files().contents("f");
    if (Findings wrong = evaluate(contents ? *contents : Bytes{})) return wrong;
    return incomplete_layout(job);
  }

 private:
  [[nodiscard]] sim::JobSettings settings() {
    sim::JobSettings settings;
    settings.machine = program_.machine;
    settings.nodes = program_.nodes;
    settings.buffered_bytes_max = program_.buffered_bytes_max;
    settings.with_faults = [this](std::shared_ptr<store::Store> store, int rank) {
      return with_faults(std::move(store), rank);
    };
    settings.refuses_memory = [this](int /*rank*/, std::int64_t bytes) {
      shared_bytes_max_ = std::max(shared_bytes_max_, bytes);
      const bool refused = refusals_.next();
      shared_was_refused_ = shared_was_refused_ || refused;
      return refused;
    };
    for (const Fault& fault : program_.faults) {
      const auto* const late = std::get_if<LateMessages>(&fault);
      if (late == nullptr) continue;
      settings.delay = [this, max = late->nanoseconds_max] {
        return collective::fixtures::pick(random_, 0, max);
      };
    }
    return settings;
  }

  [[nodiscard]] std::shared_ptr<store::Store> with_faults(std::shared_ptr<store::Store> store,
                                                          int rank) {
    std::string rules;
    std::map<std::int64_t, std::int64_t> lateness;
    for (const Fault& fault : program_.faults) {
      if (const auto* const failing = std::get_if<StoreFault>(&fault)) {
        rules += (rules.empty() ? "" : ";") + failing->rule;
      }
      const auto* const late = std::get_if<LateCall>(&fault);
      if (late != nullptr && late->rank == rank) lateness[late->nth] += late->nanoseconds;
    }
    if (!lateness.empty()) {
      auto calls = std::make_shared<LateCalls>(job_->scheduler(), std::move(lateness));
      store = std::make_shared<LateStore>(std::move(store), std::move(calls));
    }
    if (rules.empty()) return store;
    return std::make_shared<testing::FaultyStore>(std::move(store),
                                                  testing::parse_fault_plan(rules).value(), rank);
  }

  static void order(sim::Job& job, const ServerFault& fault) {
    const sim::FaultOrder parsed = sim::parse_fault(fault.words, job.machine()).value();
    job.scheduler().at(fault.at_nanoseconds,
                       [&job, parsed] { static_cast<void>(job.files().order(parsed)); });
  }

  // ---- the program of one rank ----

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
    StepResults& results = results_[number];
    compute(self, step);
    if (!accesses(step.action)) {
      results.calls.front()[rank].error = error_of(change(self, file, step));
      return;
    }
    const plan::TiledMap& view = step.calls.front()[rank].file.view;
    results.views[rank].error = error_of(self.run(file.set_view({.map = view}, {}, std::nullopt)));
    if (results.views[rank].error) return;  // the file has its view from before
    if (is_by_shared_pointer(step.action)) {
      const auto from = file::Whence::set;
      results.seeks[rank].error =
          error_of(self.run(file.seek_shared(step.number, from, std::nullopt)));
      if (results.seeks[rank].error) return;
    }
    if (!step.beside.empty()) {
      access_in_flight(self, file, step, results);
      return;
    }
    file::Access access = access_of(file, step, step.calls.front()[rank]);
    access.alone = true;
    const file::Outcome outcome = is_collective(step.action)
                                      ? self.run(file.transfer_all(access, std::nullopt))
                                      : file.transfer(access);
    results.calls.front()[rank] = {outcome.bytes, outcome.error};
  }

  static void compute(sim::RankOfJob& self, const Step& step) {
    if (!step.pauses.empty()) {
      self.job().scheduler().sleep(step.pauses[static_cast<std::size_t>(self.rank())]);
    }
  }

  static Status change(sim::RankOfJob& self, file::OpenFile& file, const Step& step) {
    if (step.action == Action::sync) return self.run(file.sync());
    if (step.action == Action::resize) return self.run(file.resize(step.number));
    if (step.action == Action::preallocate) return self.run(file.preallocate(step.number));
    return self.run(file.set_atomicity(step.number == 1));
  }

  static file::Access access_of(file::OpenFile& file, const Step& step, RankAccess& own) {
    file::Access access{reads(step.action) ? plan::Direction::read : plan::Direction::write,
                        file::Position::explicit_offset, own.file.first_byte, own.memory(),
                        nullptr};
    if (is_by_shared_pointer(step.action)) {
      access.position =
          is_collective(step.action) ? file::Position::ordered : file::Position::shared;
      access.offset = 0;
    } else if (step.individual) {
      access.position = file::Position::individual;
      access.offset = 0;
      static_cast<void>(file.seek(own.file.first_byte, file::Whence::set));
    }
    return access;
  }

  /// Starts the collective calls, accesses the file by itself meanwhile, and completes the calls.
  /// They progress in their order, as in OperationQueue (src/mpi/progress).
  static void access_in_flight(sim::RankOfJob& self, file::OpenFile& file, Step& step,
                               StepResults& results) {
    const auto rank = static_cast<std::size_t>(self.rank());
    std::vector<std::unique_ptr<collective::Operation<file::Outcome>>> pending;
    const auto progress = [&] {
      static_cast<void>(
          std::ranges::all_of(pending, [](const auto& one) { return one->advance(); }));
    };
    for (Accesses& call : step.calls) {
      const file::Access access = access_of(file, step, call[rank]);
      pending.push_back(self.start(file.transfer_all(access, std::nullopt)));
      progress();
    }
    compute(self, step);
    progress();
    const file::Outcome outcome = file.transfer(access_of(file, step, step.beside[rank]));
    results.beside[rank] = {outcome.bytes, outcome.error};
    progress();
    for (std::size_t call = 0; call < pending.size(); ++call) {
      pending[call]->finish();
      const file::Outcome& done = pending[call]->value();
      results.calls[call][rank] = {done.bytes, done.error};
    }
  }

  static void add_errors(const char* call, const ByRank& ranks, std::string& words) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      if (!ranks[rank].error) continue;
      words += std::string(call) + " of rank " + std::to_string(rank) + ": " +
               ranks[rank].error->message + "\n";
    }
  }

  // ---- evaluation ----

  /// More memory than the program may take. `peak`: the most bytes that the process allocated.
  [[nodiscard]] Findings excess(std::int64_t peak) const {
    const auto ranks = static_cast<std::int64_t>(rank_count_);
    const auto larger = [](const char* what, std::int64_t bytes, std::int64_t limit) {
      return std::string(what) + " took " + std::to_string(bytes) + " bytes, more than " +
             std::to_string(limit);
    };
    const std::int64_t shared_limit = ranks * shared_bytes_max_of_rank;
    // A rank that was once refused memory to share with its node allocates as much for itself, in
    // that call and in later ones.
    const std::int64_t own_limit = shared_was_refused_ ? shared_limit : 0;
    const std::int64_t limit = peak_bytes_max + ranks * (peak_bytes_max_of_rank + own_limit);
    if (peak > limit) return larger("the process", peak, limit);
    if (shared_bytes_max_ <= shared_limit) return std::nullopt;
    return larger("the shared memory of a node", shared_bytes_max_, shared_limit);
  }

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
    if (Findings wrong = disagreement(results.views, "set_view")) return wrong;
    if (Findings wrong = disagreement(results.seeks, "seek_shared")) return wrong;
    if (Findings wrong = needless(results.beside)) return wrong;
    for (const ByRank& call : results.calls) {
      Findings wrong = is_collective(step.action) ? disagreement(call, "call") : needless(call);
      if (wrong) return wrong;
    }
    note_loss(step.action, results);
    if (step.action == Action::resize) {
      possible_.resize(step.number, !has_failed(results.calls.front().front()));
    }
    if (!accesses(step.action)) return std::nullopt;
    if (has_failed(results.views.front()) || has_failed(results.seeks.front())) return std::nullopt;
    if (!reads(step.action)) {
      Findings wrong = evaluate_write(number);
      note_loss(step.action, results);
      return wrong;
    }
    return evaluate_read(number);
  }

  /// If a node is evicted, writes may be lost until a sync has followed. Some call has then failed.
  void note_loss(Action action, const StepResults& results) {
    if (!program_.loses_writes()) return;
    std::vector<const ByRank*> all{&results.views, &results.seeks, &results.beside};
    for (const ByRank& call : results.calls) all.push_back(&call);
    for (const ByRank* const one : all) {
      if (std::ranges::any_of(*one, has_failed)) possible_.lose_unsynced();
    }
    if (action == Action::sync && !has_failed(results.calls.front().front())) possible_.sync();
  }

  Findings evaluate_write(std::size_t number) {
    const Step& step = steps_[number];
    const Step& before = program_.steps[number];
    const StepResults& results = results_[number];
    std::vector<RankAccess> all;
    std::vector<bool> succeeded;
    for (std::size_t call = 0; call < step.calls.size(); ++call) {
      if (Findings wrong =
              check_writes(step.calls[call], before.calls[call], results.calls[call])) {
        return wrong;
      }
      add_writes(step, step.calls[call], results.calls[call], all, succeeded);
    }
    if (Findings wrong = check_writes(step.beside, before.beside, results.beside)) return wrong;
    if (!step.beside.empty()) add_writes(step, step.beside, results.beside, all, succeeded);
    possible_.write(all, succeeded, program_.loses_writes());
    return std::nullopt;
  }

  // NOLINTNEXTLINE(readability-function-size): two results
  void add_writes(const Step& step, const Accesses& accesses, const ByRank& results,
                  std::vector<RankAccess>& all, std::vector<bool>& succeeded) const {
    const bool all_succeeded = std::ranges::none_of(results, has_failed);
    for (std::size_t rank = 0; rank < rank_count_; ++rank) {
      if (step.action != Action::write_shared) {
        all.push_back(accesses[rank]);
        succeeded.push_back(!has_failed(results[rank]));
        continue;
      }
      // The ranks may have written in any order.
      for (const RankAccess& place : accesses) {
        all.push_back(accesses[rank]);
        all.back().file.first_byte = place.file.first_byte;
        succeeded.push_back(all_succeeded);
      }
    }
  }

  [[nodiscard]] static Findings check_writes(const Accesses& accesses, const Accesses& before,
                                             const ByRank& calls) {
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

  [[nodiscard]] Findings evaluate_read(std::size_t number) const {
    const Step& step = steps_[number];
    const Step& before = program_.steps[number];
    const StepResults& results = results_[number];
    for (std::size_t call = 0; call < step.calls.size(); ++call) {
      if (Findings wrong = check_reads(step.calls[call], before.calls[call], results.calls[call])) {
        return wrong;
      }
    }
    return check_reads(step.beside, before.beside, results.beside);
  }

  [[nodiscard]] Findings check_reads(const Accesses& accesses, const Accesses& before,
                                     const ByRank& calls) const {
    for (std::size_t rank = 0; rank < accesses.size(); ++rank) {
      if (calls[rank].error) continue;
      Findings wrong = possible_.misfit(accesses[rank], before[rank].buffer, calls[rank].bytes);
      if (wrong) return "rank " + std::to_string(rank) + ": " + *wrong;
    }
    return std::nullopt;
  }

  /// Ranks that return different classes of errors, or an error without a fault.
  [[nodiscard]] Findings disagreement(const ByRank& ranks, const char* call) const {
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

  /// An error that no fault explains.
  [[nodiscard]] Findings needless(const ByRank& ranks) const {
    for (const Returned& one : ranks) {
      if (one.error && !program_.explains(*one.error)) {
        return "failed without a fault that explains it: " + one.error->message;
      }
    }
    return std::nullopt;
  }

  static std::string message_of(const Returned& one) {
    return one.error ? one.error->message : "success";
  }

  /// A file that other programs cannot extend, because its layout ends.
  [[nodiscard]] Findings incomplete_layout(sim::Job& job) const {
    if (program_.excuses_errors()) return std::nullopt;
    const Result<std::vector<std::byte>> bytes = (*job.files().data("f"))->layout();
    if (!bytes) return std::nullopt;
    const plan::Layout layout = plan::decode_lov(*bytes).value();
    if (plan::end_of(layout) == plan::layout_end_of_file) return std::nullopt;
    return "the layout of the closed file ends at byte " + std::to_string(plan::end_of(layout));
  }

  const Program& program_;
  const std::size_t rank_count_;
  std::vector<Step> steps_;  // with the buffers of this run
  std::vector<StepResults> results_;
  ByRank opened_;
  ByRank closed_;
  PossibleFile possible_;
  collective::fixtures::Random random_;  // by how much messages are late
  Refusals refusals_;                    // of shared memory
  std::int64_t shared_bytes_max_ = 0;    // of memory that the ranks of a node share
  bool shared_was_refused_ = false;      // such memory, at least once
  sim::Job* job_ = nullptr;
};

/// What is wrong, and the errors of all calls.
Findings run_once(const Program& program) {
  Trial trial(program);
  Findings wrong = trial.run();
  return wrong ? *wrong + "\n" + trial.errors() : wrong;
}

/// Tries to leave out each of `count` parts in turn.
void leave_out(std::size_t count, const std::function<bool(const Omissions&)>& is_wrong,
               Omissions& omissions, std::vector<std::size_t> Omissions::*parts) {
  for (std::size_t part = 0; part < count; ++part) {
    if (std::ranges::find(omissions.*parts, part) != (omissions.*parts).end()) continue;
    Omissions more = omissions;
    (more.*parts).push_back(part);
    if (is_wrong(more)) omissions = std::move(more);
  }
}

}  // namespace

std::optional<std::string> try_out(const Program& program) {
  const Held before = held();
  if (Findings wrong = run_once(program)) return wrong;
  const Held after = held();
  if (after.descriptors != before.descriptors) {
    return "the run left " + std::to_string(after.descriptors - before.descriptors) +
           " descriptors";
  }
  if (after.bytes <= before.bytes) return std::nullopt;
  // The first run may have filled what the process keeps, such as tables.
  if (Findings wrong = run_once(program)) return wrong;
  const std::int64_t left = held().bytes - after.bytes;
  if (left <= 0) return std::nullopt;
  return "each run leaves " + std::to_string(left) + " bytes of memory";
}

Omissions shrink(const Program& program, Omissions omissions,
                 const std::function<bool(const Program&)>& is_wrong) {
  const auto is_wrong_without = [&](const Omissions& more) {
    return is_wrong(without(program, more));
  };
  leave_out(program.steps.size(), is_wrong_without, omissions, &Omissions::steps);
  leave_out(program.faults.size(), is_wrong_without, omissions, &Omissions::faults);
  return omissions;
}

}  // namespace nacre::simulation
