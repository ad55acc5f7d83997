// A collective write whose exchange and file access overlap, with a link for each of the two, and
// with one link for both: the link has to carry the bytes of both.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "file/open_file.h"
#include "plan/types/type_map.h"
#include "sim/job/job.h"

namespace nacre::sim {
namespace {

using plan::Direction;

constexpr SimulatedTime hour = SimulatedTime{3600} * 1'000'000'000;
constexpr int rank_count = 4;
constexpr std::int64_t mebibyte = 1 << 20;
constexpr std::int64_t piece_bytes = 64 << 10;
constexpr std::int64_t bytes_per_rank = 16 * mebibyte;
constexpr std::int64_t bandwidth = 1'000'000'000;  // a nanosecond a byte

struct Written {
  SimulatedTime end = 0;
  SimulatedTime busiest_link = 0;
  std::int64_t far_bytes = 0;  // that one node sends
};

/// Writes pieces of all ranks in turn, by one aggregator on each node.
Written write(std::int64_t share_link) {
  JobSettings settings;
  settings.nodes = plan::NodeMap::singles(rank_count);
  settings.machine.node_link.bandwidth = settings.machine.message_bandwidth = bandwidth;
  settings.machine.messages_share_link = share_link;
  settings.machine.osts = settings.machine.stripe_count = rank_count;
  settings.machine.rpc_bytes = mebibyte;
  const file::InfoPairs hints{{"nacre_algorithm", "two_phase"},
                              {"cb_nodes", std::to_string(rank_count)},
                              {"cb_buffer_size", std::to_string(mebibyte)}};
  const std::unique_ptr<Job> job = Job::make(settings).value();
  const Status ended = job->run(
      [&](RankOfJob& self) {
        const auto file = self.open("f", {.write = true, .create = true}, hints).value();
        const plan::TypeMap pieces =
            plan::TypeMap::bytes(piece_bytes).resized(0, rank_count * piece_bytes).value();
        const file::View view{.map = {pieces, self.rank() * piece_bytes}};
        REQUIRE(self.run(file->set_view(view, {}, std::nullopt)).ok());
        std::vector<std::byte> bytes(bytes_per_rank);
        const plan::MemoryAccess memory{bytes.data(), plan::TypeMap::bytes(1), bytes_per_rank};
        const file::Outcome moved = self.run(file->transfer_all(
            {Direction::write, file::Position::explicit_offset, 0, memory, nullptr}, std::nullopt));
        CHECK(moved.bytes == bytes_per_rank);
        CHECK(self.run(file->sync()).ok());
        CHECK(self.run(file->close()).ok());
      },
      hour);
  REQUIRE_MESSAGE(ended.ok(), ended.error().message);
  Written written{job->scheduler().now(), 0, job->network().counts().far_bytes / rank_count};
  for (int node = 0; node < rank_count; ++node) {
    written.busiest_link =
        std::max(written.busiest_link, job->network().links().busy_times(node).total());
  }
  return written;
}

}  // namespace

TEST_CASE("an exchange and a file access that share links take the time of the bytes of both") {
  const Written apart = write(0);
  const Written together = write(1);
  CHECK(apart.far_bytes >= bytes_per_rank * 3 / 4);
  CHECK(together.far_bytes == apart.far_bytes);
  CHECK(together.busiest_link >= bytes_per_rank * 7 / 4);
  CHECK(together.end >= together.busiest_link);
  const SimulatedTime longer = together.end - apart.end;
  CHECK(longer > apart.far_bytes * 9 / 10);
  CHECK(longer < apart.far_bytes * 11 / 10);
}

}  // namespace nacre::sim
