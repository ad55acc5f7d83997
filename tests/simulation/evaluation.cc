#include "evaluation.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "plan/layout/layout_growth.h"
#include "possible_file.h"

namespace nacre::simulation {
namespace {

using collective::fixtures::RankAccess;
using Findings = std::optional<std::string>;

class Evaluation {
 public:
  Evaluation(const Program& program, const std::vector<Step>& after, const Results& results)
      : program_(program),
        rank_count_(static_cast<std::size_t>(program.nodes.rank_count())),
        after_(after),
        results_(results),
        opened_(program.files.size()) {
    for (const ProgramFile& file : program.files) {
      const auto [place, is_new] = possible_.try_emplace(file.path, file.bytes_before);
      if (!is_new && file.bytes_before > 0) place->second = PossibleFile(file.bytes_before);
    }
  }

  Findings run(const FindFile& find) {
    for (std::size_t file = 0; file < opened_.size(); ++file) {
      Findings wrong = evaluate_open(file, program_.files[file].mode, results_.opened[file]);
      if (wrong) return wrong;
    }
    for (std::size_t step = 0; step < after_.size(); ++step) {
      Findings wrong = evaluate_step(step);
      if (wrong) return "step " + std::to_string(step) + ": " + *wrong;
    }
    for (std::size_t file = 0; file < opened_.size(); ++file) {
      if (Findings wrong = evaluate_close(file, results_.closed[file])) return wrong;
    }
    for (const auto& [path, possible] : possible_) {
      if (Findings wrong = evaluate_file(path, find(path))) return path + ": " + *wrong;
    }
    return std::nullopt;
  }

 private:
  struct Opened {
    file::AccessMode mode;
    int number = 0;  // different for each open
  };

  PossibleFile& possible_of(std::size_t file) { return possible_.at(program_.files[file].path); }

  // ---- opens, closes and deletions ----

  Findings evaluate_open(std::size_t file, const file::AccessMode& mode, const ByRank& ranks) {
    if (Findings wrong = difference(ranks, "open")) return wrong;
    if (Findings wrong = dropped(ranks, "open")) return wrong;
    PossibleFile& possible = possible_of(file);
    const Returned& first = ranks.front();
    if (first.error && !possible.explains(mode, *first.error)) {
      if (Findings wrong = needless(ranks)) return wrong;
    }
    if (!first.error) opened_[file] = Opened{mode, ++open_count_};
    return possible.open(mode, !first.error);
  }

  Findings evaluate_close(std::size_t file, const ByRank& ranks) {
    const std::optional<Opened> opened = std::exchange(opened_[file], std::nullopt);
    if (!opened) return std::nullopt;
    if (Findings wrong = disagreement(ranks, "close")) return wrong;
    const bool succeeded = !has_failed(ranks.front());
    if (!succeeded && program_.loses_writes()) possible_of(file).lose_unsynced();
    if (succeeded && opened->mode.write) complete_.insert(program_.files[file].path);
    if (opened->mode.delete_on_close) note_removal(file, succeeded);
    return std::nullopt;
  }

  Findings evaluate_removal(std::size_t file, const Returned& removed) {
    if (Findings wrong = dropped({removed}, "delete")) return wrong;
    const PossibleFile& possible = possible_of(file);
    const bool is_missing = removed.error && removed.error->error_class == ErrorClass::no_such_file;
    if (!removed.error && !possible.may_exist()) return "a file that does not exist was deleted";
    if (!(is_missing && possible.may_be_missing())) {
      if (Findings wrong = needless({removed})) return wrong;
    }
    note_removal(file, !removed.error);
    return std::nullopt;
  }

  void note_removal(std::size_t file, bool succeeded) {
    possible_of(file).remove(succeeded);
    complete_.erase(program_.files[file].path);
  }

  Findings evaluate_reopen(std::size_t number) {
    const Step& step = after_[number];
    const StepResults& results = results_.steps[number];
    if (Findings wrong = evaluate_close(step.file, results.closed)) return wrong;
    if (step.action == Action::remove) {
      if (Findings wrong = evaluate_removal(step.file, results.removed)) return wrong;
    }
    return evaluate_open(step.file, step.mode, results.opened);
  }

  // ---- steps ----

  Findings evaluate_step(std::size_t number) {
    const Step& step = after_[number];
    const StepResults& results = results_.steps[number];
    if (opens(step.action)) return evaluate_reopen(number);
    if (!opened_[step.file] || !allows(opened_[step.file]->mode, step.action)) return std::nullopt;
    if (Findings wrong = disagreement(results.views, "set_view")) return wrong;
    if (Findings wrong = disagreement(results.seeks, "seek_shared")) return wrong;
    if (Findings wrong = needless(results.beside)) return wrong;
    for (const ByRank& call : results.calls) {
      Findings wrong = is_collective(step.action) ? disagreement(call, "call") : needless(call);
      if (wrong) return wrong;
    }
    return evaluate_bytes(number, possible_of(step.file));
  }

  Findings evaluate_bytes(std::size_t number, PossibleFile& possible) {
    const Step& step = after_[number];
    const StepResults& results = results_.steps[number];
    note_loss(results, possible);
    const ByRank& call = results.calls.front();
    const bool has_synced = step.action == Action::sync && !has_failed(call.front());
    if (has_synced) possible.sync(opened_[step.file]->number);
    if (step.action == Action::resize) possible.resize(step.number, !has_failed(call.front()));
    if (step.action == Action::preallocate) {
      possible.preallocate(step.number, !has_failed(call.front()));
    }
    if (step.action == Action::get_size) return evaluate_sizes(call, possible);
    if (!accesses(step.action)) return std::nullopt;
    if (has_failed(results.views.front()) || has_failed(results.seeks.front())) return std::nullopt;
    if (reads(step.action)) return evaluate_read(number, possible);
    Findings wrong = evaluate_write(number, possible);
    note_loss(results, possible);
    return wrong;
  }

  [[nodiscard]] static Findings evaluate_sizes(const ByRank& ranks, const PossibleFile& possible) {
    for (const Returned& one : ranks) {
      if (one.error) continue;
      if (Findings wrong = dropped({one}, "get_size")) return wrong;
      if (Findings wrong = possible.misfit_of_size(one.bytes)) return "get_size: " + *wrong;
    }
    return std::nullopt;
  }

  /// If a node is evicted, writes may be lost until a sync has followed. Some call has then failed.
  void note_loss(const StepResults& results, PossibleFile& possible) const {
    if (!program_.loses_writes()) return;
    std::vector<const ByRank*> all{&results.views, &results.seeks, &results.beside};
    for (const ByRank& call : results.calls) all.push_back(&call);
    for (const ByRank* const one : all) {
      if (std::ranges::any_of(*one, has_failed)) possible.lose_unsynced();
    }
  }

  Findings evaluate_write(std::size_t number, PossibleFile& possible) {
    const Step& step = after_[number];
    const Step& before = program_.steps[number];
    const StepResults& results = results_.steps[number];
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
    const bool may_be_lost = program_.loses_writes();
    possible.write(all, succeeded,
                   may_be_lost ? std::optional(opened_[step.file]->number) : std::nullopt);
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

  [[nodiscard]] Findings evaluate_read(std::size_t number, const PossibleFile& possible) const {
    const Step& step = after_[number];
    const Step& before = program_.steps[number];
    const StepResults& results = results_.steps[number];
    for (std::size_t call = 0; call < step.calls.size(); ++call) {
      if (Findings wrong = check_reads(step.calls[call], before.calls[call], results.calls[call],
                                       possible, step.action == Action::read_shared)) {
        return wrong;
      }
    }
    return check_reads(step.beside, before.beside, results.beside, possible);
  }

  /// `in_any_order`: each rank has read at the place of one of the ranks.
  [[nodiscard]] static Findings check_reads(const Accesses& accesses, const Accesses& before,
                                            const ByRank& calls, const PossibleFile& possible,
                                            bool in_any_order = false) {
    for (std::size_t rank = 0; rank < accesses.size(); ++rank) {
      if (calls[rank].error) continue;
      Findings wrong;
      const auto fits = [&](const RankAccess& place) {
        RankAccess there = accesses[rank];
        there.file.first_byte = place.file.first_byte;
        wrong = possible.misfit(there, before[rank].buffer, calls[rank].bytes);
        return !wrong;
      };
      const std::span all(accesses);
      if (std::ranges::any_of(in_any_order ? all : all.subspan(rank, 1), fits)) continue;
      return "rank " + std::to_string(rank) + ": " + *wrong;
    }
    return std::nullopt;
  }

  // ---- errors ----

  /// Ranks that return different classes of errors.
  [[nodiscard]] static Findings difference(const ByRank& ranks, const char* call) {
    const auto class_of = [](const Returned& one) {
      return one.error ? std::optional(one.error->error_class) : std::nullopt;
    };
    for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
      if (class_of(ranks[rank]) == class_of(ranks.front())) continue;
      return std::string(call) + ": rank 0 returned \"" + message_of(ranks.front()) + "\", rank " +
             std::to_string(rank) + " \"" + message_of(ranks[rank]) + "\"";
    }
    return std::nullopt;
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

  /// Ranks that return different classes of errors, or an error without a fault.
  [[nodiscard]] Findings disagreement(const ByRank& ranks, const char* call) const {
    if (Findings wrong = difference(ranks, call)) return wrong;
    if (Findings wrong = dropped(ranks, call)) return wrong;
    return needless(ranks);
  }

  /// Without layouts and locks of Lustre's own, Nacre writes as it would to any file.
  static bool must_be_reported(testing::StoreCall operation) {
    return operation != testing::StoreCall::layout &&
           operation != testing::StoreCall::read_layout &&
           operation != testing::StoreCall::write_locks;
  }

  /// An error of the store that no rank reports. `ranks` return the same class of errors.
  [[nodiscard]] static Findings dropped(const ByRank& ranks, const char* call) {
    if (has_failed(ranks.front())) return std::nullopt;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      const auto failed = std::ranges::find_if(ranks[rank].failed, must_be_reported);
      if (failed == ranks[rank].failed.end()) continue;
      return std::string(call) + " succeeded, although " + std::string(testing::name_of(*failed)) +
             " failed on rank " + std::to_string(rank);
    }
    return std::nullopt;
  }

  static std::string message_of(const Returned& one) {
    return one.error ? one.error->message : "success";
  }

  // ---- the end ----

  [[nodiscard]] Findings evaluate_file(const std::string& path,
                                       const std::optional<FoundFile>& found) const {
    const PossibleFile& possible = possible_.at(path);
    if (!found) {
      return possible.may_be_missing() ? std::nullopt : Findings("the file is gone");
    }
    if (!possible.may_exist()) return "the file exists";
    if (Findings wrong = possible.misfit(found->contents)) return wrong;
    const bool is_complete =
        !found->layout || plan::end_of(*found->layout) == plan::layout_end_of_file;
    if (is_complete || program_.excuses_errors() || !complete_.contains(path)) return std::nullopt;
    // Other programs could not extend the file.
    return "the layout of the closed file ends at byte " +
           std::to_string(plan::end_of(*found->layout));
  }

  const Program& program_;
  const std::size_t rank_count_;
  const std::vector<Step>& after_;
  const Results& results_;
  std::vector<std::optional<Opened>> opened_;  // files that are open
  int open_count_ = 0;
  std::map<std::string, PossibleFile> possible_;  // by path
  std::set<std::string> complete_;  // paths of files that were closed after they could be written
};

}  // namespace

std::optional<std::string> evaluate(const Program& program, const std::vector<Step>& after,
                                    const Results& results, const FindFile& find) {
  return Evaluation(program, after, results).run(find);
}

}  // namespace nacre::simulation
