#include "trial.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "evaluation.h"
#include "intruder.h"
#include "late_store.h"
#include "live_memory.h"
#include "plan/layout/lov_codec.h"
#include "plan/layout/stripe_options.h"
#include "possible_file.h"
#include "results.h"
#include "sim/job/job.h"
#include "sim/lustre/faults.h"
#include "testing/faults/faulty_store.h"

namespace nacre::simulation {
namespace {

using collective::fixtures::Bytes;
using collective::fixtures::RankAccess;
using Findings = std::optional<std::string>;

constexpr sim::SimulatedTime second = 1'000'000'000;
/// For writing what files contain before the job.
constexpr sim::SimulatedTime fill_time_max = 3600 * second;
/// Of a program in which nothing is late, hangs or is slow.
constexpr sim::SimulatedTime time_max = 60 * second;
constexpr std::int64_t slowness_max = 20;  // of an OST that is slow
/// Of the process, and for each rank: twice what some thousand programs took. A file of up to 10
/// MiB is in memory, possibly with the buffers of a process that reads or migrates it.
constexpr std::int64_t peak_bytes_max = 32 << 20;
constexpr std::int64_t peak_bytes_max_of_rank = 1 << 20;
/// Of the memory that the ranks of a node share, for each rank of the job: each may be an
/// aggregator with four cycle buffers of a stripe (64 KiB), their marks and a few words for each
/// rank.
constexpr std::int64_t shared_bytes_max_of_rank = 4 * (std::int64_t{72} << 10) + (8 << 10);
/// Of memory that a rank reserves for cycle buffers or packed messages: it is one aggregator, and
/// has the marks of all.
constexpr std::int64_t reserved_bytes_max = shared_bytes_max_of_rank;
constexpr std::int64_t marks_bytes_max = 4 * 4096;

Returned returned(const file::Outcome& outcome) { return {outcome.bytes, outcome.error, {}}; }

std::optional<Error> error_of(const Status& status) {
  return status ? std::nullopt : std::optional(status.error());
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
    // A chain of messages, each of which waits for the one before: rounds may have two bytes.
    if (const auto* const late = std::get_if<LateMessages>(&fault)) {
      limit += late->nanoseconds_max * 1'000'000;
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
        results_(program),
        running_(rank_count_),
        random_(program.seed),
        refusals_(program, true) {}

  [[nodiscard]] std::string errors() const { return results_.errors(); }

  Findings run() {
    const auto made = sim::Job::make(settings());
    if (!made) return made.error().message;
    sim::Job& job = **made;
    job_ = &job;
    if (Findings wrong = fill_files(job)) return wrong;
    for (const Fault& fault : program_.faults) {
      if (const auto* const server = std::get_if<ServerFault>(&fault)) order(job, *server);
      if (const auto* const other = std::get_if<Intrusion>(&fault)) {
        start_intruder(job, *other, program_.files.front().path);
      }
    }
    Refusals refusals(program_, false);
    refuse_memory([&] { return refusals.next(); });
    static_cast<void>(take_peak_bytes());
    static_cast<void>(take_largest_mapping());
    const std::int64_t bytes_before = live_bytes();
    const sim::SimulatedTime end = job.scheduler().now() + time_limit(program_);
    const Status ended = job.run([this](sim::RankOfJob& self) { act(self); }, end);
    refuse_memory(nullptr);
    if (!ended) return ended.error().message;
    if (Findings wrong = excess(take_peak_bytes() - bytes_before)) return wrong;
    return evaluate(program_, steps_, results_,
                    [&](const std::string& path) { return find_file(job, path); });
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
    std::map<std::int64_t, Lateness> lateness;
    for (const Fault& fault : program_.faults) {
      if (const auto* const failing = std::get_if<StoreFault>(&fault)) {
        rules += (rules.empty() ? "" : ";") + failing->rule;
      }
      const auto* const late = std::get_if<LateCall>(&fault);
      if (late != nullptr && late->rank == rank) {
        lateness[late->nth] = {late->nanoseconds, late->is_in_two_parts};
      }
    }
    if (!lateness.empty()) {
      auto calls = std::make_shared<LateCalls>(job_->scheduler(), std::move(lateness));
      store = std::make_shared<LateStore>(std::move(store), std::move(calls));
    }
    if (rules.empty()) return store;
    return std::make_shared<testing::FaultyStore>(
        std::move(store), testing::parse_fault_plan(rules).value(), rank,
        [this, rank](testing::StoreCall operation) {
          Returned* const running = running_[static_cast<std::size_t>(rank)];
          if (running != nullptr) running->failed.push_back(operation);
        });
  }

  static void order(sim::Job& job, const ServerFault& fault) {
    const sim::FaultOrder parsed = sim::parse_fault(fault.words, job.machine()).value();
    job.scheduler().at(job.scheduler().now() + fault.at_nanoseconds,
                       [&job, parsed] { static_cast<void>(job.files().order(parsed)); });
  }

  // ---- the files before and after ----

  /// Writes what the files contain before the job.
  [[nodiscard]] Findings fill_files(sim::Job& job) const {
    Status filled;
    job.scheduler().start("before", [&] {
      for (const ProgramFile& file : program_.files) {
        if (file.bytes_before > 0 && filled) filled = fill(*job.files().store_on(0), file);
      }
    });
    if (!job.scheduler().run(fill_time_max)) return "a file was not filled in time";
    return filled ? std::nullopt : Findings(filled.error().message);
  }

  [[nodiscard]] static Status fill(store::Store& store, const ProgramFile& file) {
    store::OpenOptions options{.write = true, .create = true};
    if (!file.layout_before.empty()) {
      options.layout = plan::parse_stripe_options(file.layout_before).value();
    }
    const auto opened = store.open(file.path, options);
    if (!opened) return opened.error();
    Bytes bytes;
    for (std::int64_t i = 0; i < file.bytes_before; ++i) bytes.push_back(byte_before(i));
    const store::WritePiece piece{bytes.data(), std::ssize(bytes)};
    const store::Transfer written = (*opened)->write({&piece, 1}, 0);
    if (written.error) return *written.error;
    if (Status synced = (*opened)->sync(); !synced) return synced;
    return (*opened)->close();
  }

  [[nodiscard]] static std::optional<FoundFile> find_file(sim::Job& job, const std::string& path) {
    Result<Bytes> contents = job.files().contents(path);
    if (!contents) return std::nullopt;
    FoundFile found{.contents = *std::move(contents), .layout = {}};
    const Result<std::vector<std::byte>> layout = (*job.files().data(path))->layout();
    if (layout) found.layout = plan::decode_lov(*layout).value();
    return found;
  }

  // ---- the program of one rank ----

  /// Runs one call of a rank, and notes which calls of its store fail meanwhile.
  template <class Call>
  void note(const sim::RankOfJob& self, Returned& result, Call call) {
    Returned*& running = running_[static_cast<std::size_t>(self.rank())];
    running = &result;
    call();
    running = nullptr;
  }

  /// The files that a rank has open; null: not open.
  using OpenFiles = std::vector<std::shared_ptr<file::OpenFile>>;

  void act(sim::RankOfJob& self) {
    const auto rank = static_cast<std::size_t>(self.rank());
    OpenFiles files(program_.files.size());
    for (std::size_t file = 0; file < files.size(); ++file) {
      open(self, files, file, program_.files[file].mode, results_.opened[file][rank]);
    }
    for (std::size_t step = 0; step < steps_.size(); ++step) {
      // Calls through one open file wait for each other, but not those through two.
      if (files.size() > 1) self.barrier();
      take(self, files, step);
    }
    for (std::size_t file = 0; file < files.size(); ++file) {
      close(self, files[file], results_.closed[file][rank]);
    }
  }

  void open(sim::RankOfJob& self, OpenFiles& files, std::size_t file, const file::AccessMode& mode,
            Returned& result) {
    note(self, result, [&] {
      auto opened = self.open(program_.files[file].path, mode, program_.hints);
      if (opened) {
        files[file] = *std::move(opened);
      } else {
        result.error = opened.error();
      }
    });
  }

  void close(sim::RankOfJob& self, std::shared_ptr<file::OpenFile>& file, Returned& result) {
    if (file == nullptr) return;
    note(self, result, [&] {
      result.error = error_of(self.run(file->close()));
      file.reset();
    });
  }

  void take(sim::RankOfJob& self, OpenFiles& files, std::size_t number) {
    const auto rank = static_cast<std::size_t>(self.rank());
    Step& step = steps_[number];
    StepResults& results = results_.steps[number];
    compute(self, step);
    if (opens(step.action)) {
      close(self, files[step.file], results.closed[rank]);
      if (step.action == Action::remove && rank == 0) {
        note(self, results.removed, [&] {
          results.removed.error = error_of(self.remove(program_.files[step.file].path));
        });
      }
      open(self, files, step.file, step.mode, results.opened[rank]);
      return;
    }
    file::OpenFile* const file = files[step.file].get();
    if (file == nullptr || !allows(file->mode(), step.action)) return;
    Returned& result = results.calls.front()[rank];
    if (accesses(step.action)) {
      access(self, *file, step, results);
    } else if (step.action == Action::get_size) {
      get_size(self, *file, result);
    } else {
      note(self, result, [&] { result.error = error_of(change(self, *file, step)); });
    }
  }

  void access(sim::RankOfJob& self, file::OpenFile& file, Step& step, StepResults& results) {
    const auto rank = static_cast<std::size_t>(self.rank());
    const plan::TiledMap& view = step.calls.front()[rank].file.view;
    note(self, results.views[rank], [&] {
      results.views[rank].error =
          error_of(self.run(file.set_view({.map = view}, {}, std::nullopt)));
    });
    if (results.views[rank].error) return;  // the file has its view from before
    if (is_by_shared_pointer(step.action)) {
      const auto from = file::Whence::set;
      note(self, results.seeks[rank], [&] {
        results.seeks[rank].error =
            error_of(self.run(file.seek_shared(step.number, from, std::nullopt)));
      });
      if (results.seeks[rank].error) return;
    }
    if (!step.beside.empty()) {
      access_in_flight(self, file, step, results);
      return;
    }
    for (std::size_t call = 0; call < step.calls.size(); ++call) {
      file::Access access = access_of(file, step, step.calls[call][rank]);
      access.alone = true;
      results.calls[call][rank] =
          returned(is_collective(step.action) ? self.run(file.transfer_all(access, std::nullopt))
                                              : file.transfer(access));
    }
  }

  static void compute(sim::RankOfJob& self, const Step& step) {
    if (!step.pauses.empty()) {
      self.job().scheduler().sleep(step.pauses[static_cast<std::size_t>(self.rank())]);
    }
  }

  void get_size(sim::RankOfJob& self, file::OpenFile& file, Returned& result) {
    self.barrier();
    note(self, result, [&] {
      const Result<std::int64_t> size = file.size();
      if (size) {
        result.bytes = *size;
      } else {
        result.error = size.error();
      }
    });
    self.barrier();
  }

  static Status change(sim::RankOfJob& self, file::OpenFile& file, const Step& step) {
    if (step.action == Action::sync) return self.run(file.sync());
    if (step.action == Action::resize) return self.run(file.resize(step.number));
    if (step.action == Action::preallocate) return self.run(file.preallocate(step.number));
    return self.run(file.set_atomicity(step.number == 1));
  }

  /// Of a rank's part of the step's call.
  static file::Access access_of(file::OpenFile& file, const Step& step, RankAccess& own) {
    file::Access access = access_beside(file, step, own);
    if (is_by_shared_pointer(step.action)) {
      access.position =
          is_collective(step.action) ? file::Position::ordered : file::Position::shared;
      access.offset = 0;
    }
    return access;
  }

  /// Of an access that a rank makes by itself while calls are in flight.
  static file::Access access_beside(file::OpenFile& file, const Step& step, RankAccess& own) {
    file::Access access{reads(step.action) ? plan::Direction::read : plan::Direction::write,
                        file::Position::explicit_offset, own.file.first_byte, own.memory(),
                        nullptr};
    if (step.individual) {
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
    results.beside[rank] = returned(file.transfer(access_beside(file, step, step.beside[rank])));
    progress();
    for (std::size_t call = 0; call < pending.size(); ++call) {
      pending[call]->finish();
      results.calls[call][rank] = returned(pending[call]->value());
    }
  }

  // ---- memory ----

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
    const std::int64_t marks = ranks * marks_bytes_max;  // of the aggregators, in their own pages
    const std::int64_t reserved_limit =
        (shared_was_refused_ ? shared_limit : reserved_bytes_max) + marks;
    const std::int64_t reserved = take_largest_mapping();
    if (reserved > reserved_limit) return larger("reserved memory", reserved, reserved_limit);
    if (shared_bytes_max_ <= shared_limit) return std::nullopt;
    return larger("the shared memory of a node", shared_bytes_max_, shared_limit);
  }

  const Program& program_;
  const std::size_t rank_count_;
  std::vector<Step> steps_;  // with the buffers of this run
  Results results_;
  std::vector<Returned*> running_;       // of each rank's call whose store calls are noted
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

}  // namespace nacre::simulation
