// deliver() delivers every parcel to its destination, for any pattern, with few messages.
#include "collective/agreement/parcels.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "testing/in_process.h"

namespace nacre::collective {
namespace {

using Bytes = std::vector<std::byte>;
/// The parcels from one rank to another, in order.
using Mail = std::map<std::pair<int, int>, std::vector<Bytes>>;

Task<std::vector<Parcel>> deliver_from(Transport& transport, const Mail& mail) {
  std::vector<Parcel> outgoing;
  for (const auto& [pair, letters] : mail) {
    if (pair.first != transport.rank()) continue;
    for (const Bytes& letter : letters) outgoing.push_back({pair.second, letter});
  }
  return deliver(transport, std::move(outgoing));
}

void check_delivery(int count, const Mail& mail, std::uint64_t seed) {
  testing::InProcessNetwork network({count, testing::SendMode::mixed, seed});
  const auto results = testing::run_polled<std::vector<Parcel>>(
      network, [&](int rank) { return deliver_from(network.transport(rank), mail); }, seed);
  REQUIRE_MESSAGE(results.has_value(), network.failure().value_or(""));
  for (int rank = 0; rank < count; ++rank) {
    Mail got;
    int last_source = -1;
    for (const Parcel& parcel : (*results)[static_cast<std::size_t>(rank)]) {
      CHECK(parcel.rank >= last_source);
      last_source = parcel.rank;
      got[{parcel.rank, rank}].push_back(parcel.bytes);
    }
    Mail expected;
    for (const auto& [pair, letters] : mail) {
      if (pair.second == rank) expected[pair] = letters;
    }
    CHECK(got == expected);
    CHECK(network.sent_count(rank) <= 2 * std::bit_width(static_cast<unsigned>(count - 1)));
  }
}

}  // namespace

TEST_CASE("random parcels arrive") {
  const std::uint64_t seed = 20'240;
  MESSAGE("seed ", seed);
  std::mt19937_64 random(seed);
  for (const int count : {1, 2, 3, 4, 5, 8, 13, 32, 33, 200}) {
    Mail mail;
    const int letters = static_cast<int>(random() % static_cast<unsigned>(3 * count));
    for (int i = 0; i < letters; ++i) {
      const auto rank = [&] { return static_cast<int>(random() % static_cast<unsigned>(count)); };
      const std::pair<int, int> pair{rank(), rank()};
      mail[pair].push_back(Bytes(random() % 300, static_cast<std::byte>(random() % 256)));
    }
    check_delivery(count, mail, random());
  }
}

TEST_CASE("all ranks may send to one rank") {
  for (const int count : {2, 7, 64}) {
    Mail mail;
    for (int rank = 0; rank < count; ++rank) {
      mail[{rank, count / 2}].push_back(Bytes(40, static_cast<std::byte>(rank)));
    }
    check_delivery(count, mail, 3);
  }
}

TEST_CASE("without parcels only sizes are sent") { check_delivery(33, {}, 1); }

}  // namespace nacre::collective
