// RecordedJob: the calls of a job, made again from what its report keeps of them.
#ifndef NACRE_SIM_PROGRAM_RECORDED_JOB_H_
#define NACRE_SIM_PROGRAM_RECORDED_JOB_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "collective/profile/access_shape.h"
#include "plan/types/type_map.h"
#include "sim/program/rank_calls.h"
#include "sim/program/rank_placement.h"

namespace nacre::sim {

/// A report has the first call of some ranks (`shapes` in docs/report.md), and sums. Other ranks
/// make the calls of a sampled rank at the places that the arrangement of the ranks gives them.
/// Calls after the first are alike, a step apart. Writes come before reads, and both in the order
/// of the lines. guesses() says what the report does not show.
class RecordedJob {
 public:
  /// Lines of words:
  ///   ranks COUNT
  ///   kind write|read collective|independent RANKS CALLS BYTES     (sums; RANKS made CALLS)
  ///   shape RANK ORIGIN FIRST_BYTE BYTES STEP|- TYPE               (of the kind above; by rank)
  /// TYPE: TypeMap::encode in hexadecimal digits; or =BYTES[*COUNT/STRIDE]..., a piece of BYTES,
  /// COUNT of it STRIDE bytes apart, and so on. The error message names the wrong line.
  [[nodiscard]] static Result<RecordedJob> parse(std::string_view text);

  /// Ranks beyond the job's form further copies of it: rank r makes the calls of rank r modulo the
  /// job's count, behind the bytes of the copies before it.
  [[nodiscard]] RankCalls calls_of(int rank) const;
  [[nodiscard]] int rank_count() const { return rank_count_; }
  /// The end of what `rank_count` ranks access.
  [[nodiscard]] std::int64_t end(int rank_count) const;
  /// What the calls assume beyond the report, as sentences.
  [[nodiscard]] const std::vector<std::string>& guesses() const { return guesses_; }

 private:
  struct Shape {
    int rank = 0;
    plan::FileAccess access;
    std::optional<std::int64_t> step_bytes;
  };
  struct Kind {
    bool is_write = true;
    bool is_collective = true;
    std::int64_t ranks = 0;
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
    std::vector<Shape> shapes;
    // Derived:
    int rank_first = 0;  // with data, and every rank_step ranks from there on
    int rank_step = 1;
    std::optional<RankPlacement> placement;  // by (rank - rank_first) / rank_step
    std::int64_t step_bytes = 0;             // of calls whose distances the report does not have
    double scale = 1;                        // of the bytes of calls
  };
  struct FirstCall {
    plan::FileAccess access;
    std::int64_t step_bytes = 0;
  };

  [[nodiscard]] Status take_line(std::string_view line);
  [[nodiscard]] Status take_kind(const std::vector<std::string_view>& words);
  [[nodiscard]] Status take_shape(const std::vector<std::string_view>& words);
  [[nodiscard]] Status derive(Kind& kind);
  void derive_ranks(Kind& kind) const;
  void derive_placement(Kind& kind);
  void derive_step(Kind& kind);
  void derive_scale(Kind& kind);
  [[nodiscard]] static std::int64_t calls_each(const Kind& kind);
  /// Nothing: the rank has no data.
  [[nodiscard]] std::optional<FirstCall> first_call(const Kind& kind, int rank) const;
  void add_calls(const Kind& kind, int rank, RankCalls& calls) const;

  int rank_count_ = 0;
  std::vector<Kind> kinds_;
  std::int64_t end_ = 0;
  std::vector<std::string> guesses_;
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_PROGRAM_RECORDED_JOB_H_
