// The phases of calls, held against a store whose calls have a known cost: all algorithms, with and
// without helper threads.
#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "base/clock.h"
#include "collective/profile/profile.h"
#include "testing/in_process.h"
#include "world.h"

namespace nacre::file::fixtures {
namespace {

using collective::Phase;
using collective::Profile;
using plan::Direction;

constexpr std::int64_t call_nanoseconds = 3'000'000;  // of each call of the store, at least
constexpr int rank_count = 4;
constexpr std::int64_t bytes_per_rank = 1 << 16;

std::int64_t in(const Profile& profile, Phase phase) {
  return profile.nanoseconds[static_cast<std::size_t>(phase)].get();
}

std::int64_t sum_of_phases(const Profile& profile) {
  std::int64_t sum = 0;
  for (const collective::Tally& phase : profile.nanoseconds) sum += phase.get();
  return sum;
}

struct Setting {
  std::string algorithm;
  int threads;  // of an aggregator
  Direction direction;
};

/// Checks the profile of one rank, which was `wall` in the call.
void check_rank(const Profile& profile, const Setting& setting, std::int64_t wall) {
  const std::int64_t known = profile.file_call_count() * call_nanoseconds;
  CHECK(profile.total_nanoseconds() == sum_of_phases(profile));  // a blocking call is never away
  CHECK(profile.total_nanoseconds() <= wall);
  CHECK(profile.total_nanoseconds() >= known / std::max(setting.threads, 1));
  const bool in_threads = setting.threads > 0 && setting.algorithm != "direct";
  if (in_threads) {
    CHECK(profile.file_thread_nanoseconds.get() >= known);
    CHECK(profile.file_busy_nanoseconds.get() >= known / setting.threads);
    CHECK(profile.file_busy_nanoseconds.get() <= wall);
  } else {
    CHECK(in(profile, Phase::file) >= known);
    CHECK(profile.file_thread_nanoseconds.get() == 0);
    CHECK(profile.file_busy_nanoseconds.get() == 0);
    CHECK(in(profile, Phase::file_wait) == 0);
  }
}

/// One collective call on all ranks, each in its own thread, in interleaved pieces.
void run_call(const Setting& setting) {
  World world(rank_count, std::string(rank_count * bytes_per_rank, '.'));
  for (int rank = 0; rank < rank_count; ++rank) world.fail(rank, "latency_us=3000");
  world.must_open(read_write, {{"nacre_algorithm", setting.algorithm},
                               {"nacre_io_threads", std::to_string(setting.threads)},
                               {"cb_nodes", "2"},
                               {"cb_buffer_size", "16384"}});
  world.must([&](OpenFile& file, int rank) {
    return file.set_view(view_of({4096}, {0}, rank_count * 4096, rank * 4096), {}, {});
  });
  std::vector<std::string> texts(rank_count, std::string(bytes_per_rank, 'x'));
  std::vector<Outcome> outcomes(rank_count);
  const std::int64_t begin = monotonic_nanoseconds();
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < rank_count; ++rank) {
    ranks.emplace_back([&, rank] {
      const auto index = static_cast<std::size_t>(rank);
      const Access access = access_to(texts[index], setting.direction, Position::individual);
      outcomes[index] = collective::run_to_end(world.file(rank).transfer_all(access, {}),
                                               world.file(rank).transport());
    });
  }
  for (std::thread& rank : ranks) rank.join();
  const std::int64_t wall = monotonic_nanoseconds() - begin;
  CHECK_FALSE(agreed(outcomes));
  std::int64_t file_calls = 0;
  std::int64_t file_wait = 0;
  for (int rank = 0; rank < rank_count; ++rank) {
    CAPTURE(rank);
    const Profile& profile = world.file(rank).profile().of(setting.direction, true);
    check_rank(profile, setting, wall);
    file_calls += profile.file_call_count();
    file_wait += in(profile, Phase::file_wait);
  }
  CHECK(file_calls >= rank_count);
  // Behind the last access of an aggregator there is nothing to exchange.
  if (setting.threads > 0 && setting.algorithm != "direct") CHECK(file_wait > 0);
  CHECK_FALSE(agreed(world.close()));
}

}  // namespace

TEST_CASE("phases of all algorithms, with and without helper threads") {
  for (const char* algorithm :
       {"direct", "two_phase", "dynamic_segmentation", "static_segmentation"}) {
    for (const int threads : {0, 1, 2}) {
      for (const Direction direction : {Direction::write, Direction::read}) {
        CAPTURE(algorithm);
        CAPTURE(threads);
        CAPTURE(direction == Direction::read);
        run_call({algorithm, threads, direction});
      }
    }
  }
}

}  // namespace nacre::file::fixtures
