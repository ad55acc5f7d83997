// Measures how long rank 0 takes to choose the plan of a collective call whose shape is new. Prints
// a line of JSON for each job and direction, with the number of plans that are compared and the
// times in nanoseconds.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "machine/machine_file.h"
#include "plan/decide/decide.h"

namespace nacre::plan {
namespace {

constexpr std::int64_t mebibyte = 1 << 20;
constexpr int repeats = 201;

struct Job {
  int ranks;
  int nodes;
  int osts;
};

CollectiveSettings settings_of(const Job& job) {
  CollectiveSettings settings;
  settings.saturation_bytes = 32 * mebibyte;
  settings.machine = std::make_shared<const machine::Machine>(machine::shipped_machine("lustre"));
  const Layout layout = plain_layout({.stripe_size = mebibyte, .stripe_count = job.osts});
  settings.stripes = std::make_shared<const StripeMap>(StripeMap::of(layout, job.osts).value());
  return settings;
}

/// Each rank has four pieces of 1 MiB, round robin.
AccessSummary summary_of(const Job& job, const StripeMap& stripes) {
  AccessSummary summary;
  for (std::int64_t rank = 0; rank < job.ranks; ++rank) {
    const TypeMap piece = TypeMap::bytes(mebibyte).resized(0, job.ranks * mebibyte).value();
    const FileAccess access{{piece, rank * mebibyte}, 0, 4 * mebibyte};
    const MemoryAccess memory{nullptr, TypeMap::bytes(1), access.byte_count};
    const auto node = static_cast<int>(rank * job.nodes / job.ranks);
    fold(summary, summarize(access, memory, node, &stripes));
  }
  return summary;
}

void measure(const Job& job, Direction direction) {
  const CollectiveSettings settings = settings_of(job);
  const AccessSummary summary = summary_of(job, *settings.stripes);
  const Participants all{direction, job.ranks, job.nodes};
  std::vector<std::int64_t> times;
  std::int32_t aggregators = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const std::int64_t begin = monotonic_nanoseconds();
    aggregators = decide(summary, settings, all).aggregator_count;
    times.push_back(monotonic_nanoseconds() - begin);
  }
  std::ranges::sort(times);
  const std::string line =
      JsonObject()
          .add_number("ranks", job.ranks)
          .add_number("osts", job.osts)
          .add_text("direction", direction == Direction::write ? "write" : "read")
          .add_number("plans", std::ssize(compared_plans(summary, settings, all)))
          .add_number("aggregators", aggregators)
          .add_number("median_nanoseconds", times[repeats / 2])
          .add_number("max_nanoseconds", times.back())
          .text();
  std::printf("%s\n", line.c_str());
}

}  // namespace
}  // namespace nacre::plan

int main() {
  using namespace nacre::plan;
  const std::vector<Job> jobs{
      {16, 8, 8}, {4'096, 256, 64}, {65'536, 1'024, 500}, {1'000'000, 16'384, 2'000}};
  for (const Job& job : jobs) {
    for (const nacre::plan::Direction direction : {Direction::write, Direction::read}) {
      measure(job, direction);
    }
  }
}
