// The layout for a file of a given size and number of writers: its bounds and its reasons.
#include "plan/layout/layout_choice.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include <doctest/doctest.h>

namespace nacre::plan {
namespace {

constexpr std::int64_t mebibyte = 1 << 20;
constexpr std::int64_t gigabyte = 1'000'000'000;

std::string options_for(const ExpectedFile& file) { return choose_layout(file).value().options(); }

TEST_CASE("small files have one stripe") {
  CHECK(options_for({.bytes = 0, .nodes = 4, .ranks = 64, .osts = 16}) == "-c 1 -S 1m");
  CHECK(options_for({.bytes = 63 * mebibyte, .nodes = 4, .ranks = 64, .osts = 16}) == "-c 1 -S 2m");
  CHECK(options_for({.bytes = 64 * mebibyte, .nodes = 4, .ranks = 64, .osts = 16}) == "-c 2 -S 2m");
}

TEST_CASE("large files have as many stripes as OSTs, ranks and nodes allow") {
  CHECK(options_for({.bytes = 1000 * gigabyte, .nodes = 8, .ranks = 512, .osts = 24}) ==
        "-c 24 -S 16m");
  CHECK(options_for({.bytes = 1000 * gigabyte, .nodes = 100, .ranks = 6400, .osts = 144}) ==
        "-c 144 -S 16m");
  CHECK(options_for({.bytes = 1000 * gigabyte, .nodes = 120, .ranks = 6400, .osts = 144}) ==
        "-c 120 -S 16m");
  CHECK(options_for({.bytes = 10 * gigabyte, .nodes = 1, .ranks = 6, .osts = 144}) ==
        "-c 6 -S 16m");
}

TEST_CASE("with few writers, a large file still has the square root of its size in stripes") {
  CHECK(options_for({.bytes = 90 * gigabyte, .nodes = 1, .ranks = 4, .osts = 144}) ==
        "-c 9 -S 16m");
  CHECK(options_for({.bytes = 90 * gigabyte, .nodes = 1, .ranks = 4, .osts = 6}) == "-c 6 -S 16m");
}

TEST_CASE("a machine says how many bytes justify an OST, and how many OSTs its nodes keep busy") {
  machine::Machine machine;
  machine.ost.bandwidth = 1 << 30;
  machine.ost_latency_us = 500;
  machine.lock_latency_us = 100;
  machine.node_link.bandwidth = std::int64_t{10} << 30;
  const ExpectedFile file{.bytes = 32 * mebibyte, .nodes = 4, .ranks = 64, .osts = 48};
  const ExpectedFile with_machine = on_machine(file, machine);
  CHECK(with_machine.bytes_per_ost_min == mebibyte);
  CHECK(with_machine.osts_of_links == 60);
  CHECK(options_for(file) == "-c 1 -S 2m");
  CHECK(options_for(with_machine) == "-c 32 -S 1m");
  ExpectedFile large = with_machine;
  large.bytes = 100 * gigabyte;
  large.osts = 96;
  CHECK(choose_layout(large).value().reasons.front() ==
        "at most 60: the links of the nodes keep no more OSTs busy");
  machine.ost_latency_us = 10000;
  CHECK(on_machine(file, machine).bytes_per_ost_min == 2 * mebibyte);
  CHECK(options_for(on_machine(file, machine)) == "-c 16 -S 1m");
  CHECK(on_machine(file, machine::Machine()).bytes_per_ost_min == file.bytes_per_ost_min);
}

TEST_CASE("a rank may keep several OSTs busy, if the machine says so") {
  machine::Machine machine;
  machine.ost.bandwidth = 1 << 30;
  machine.node_link.bandwidth = std::int64_t{10} << 30;
  const ExpectedFile file{.bytes = gigabyte, .nodes = 2, .ranks = 4, .osts = 48};
  CHECK(options_for(file) == "-c 4 -S 8m");
  CHECK(options_for(on_machine(file, machine)) == "-c 30 -S 1m");
  machine.write_bandwidth = std::int64_t{2} << 30;
  machine.read_bandwidth = std::int64_t{3} << 30;
  CHECK(options_for(on_machine(file, machine)) == "-c 12 -S 4m");
  CHECK(choose_layout(on_machine(file, machine)).value().reasons.front() ==
        "at most 12: the ranks keep no more OSTs busy");
  machine.read_bandwidth = machine.write_bandwidth = 1 << 20;
  CHECK(options_for(on_machine(file, machine)) == options_for(file));
}

TEST_CASE("stripes are so short that a collective call has one on each OST") {
  ExpectedFile file{.bytes = 100 * gigabyte, .nodes = 4, .ranks = 64, .osts = 16};
  file.call_bytes = 64 * mebibyte;
  CHECK(options_for(file) == "-c 16 -S 4m");
  file.call_bytes = mebibyte;
  CHECK(options_for(file) == "-c 16 -S 1m");
  file.stripe_size_min = 64 << 10;
  CHECK(options_for(file) == "-c 16 -S 64k");
}

TEST_CASE("where the file system has short stripes, a file has them too") {
  machine::Machine machine;
  machine.stripe_size = 64 << 10;
  const ExpectedFile file{.bytes = 8 * mebibyte, .nodes = 4, .ranks = 64, .osts = 16};
  CHECK(on_machine(file, machine).stripe_size_min == 64 << 10);
  machine.stripe_size = 4 * mebibyte;
  CHECK(on_machine(file, machine).stripe_size_min == mebibyte);
}

TEST_CASE("the reasons name the deciding values") {
  const LayoutChoice choice =
      choose_layout({.bytes = 1000 * gigabyte, .nodes = 120, .ranks = 6400, .osts = 144}).value();
  REQUIRE(choice.reasons.size() == 3);
  CHECK(choice.reasons[0] == "at most 144: there are no more OSTs");
  CHECK(choice.reasons[1] == "120 rather than 144: the 120 nodes share them evenly");
  CHECK(choice.reasons[2] == "stripes of 16 MiB, of which each OST has 496");
}

TEST_CASE("errors name the invalid argument") {
  const auto refusal = [](const ExpectedFile& file) { return choose_layout(file).error().message; };
  CHECK(refusal({.bytes = -1}) == "size -1 is less than 0");
  CHECK(refusal({.nodes = 0}) == "number of nodes 0 is less than 1");
  CHECK(refusal({.ranks = -3}) == "number of ranks -3 is less than 1");
  CHECK(refusal({.osts = 0}) == "number of OSTs 0 is less than 1");
}

TEST_CASE("random files: the choice is within its bounds") {
  const std::uint64_t seed = 20261122;
  MESSAGE("seed ", seed);
  std::mt19937_64 random(seed);
  const auto pick = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(1, most)(random);
  };
  for (int i = 0; i < 20000; ++i) {
    CAPTURE(i);
    ExpectedFile file;
    file.bytes = std::int64_t{1} << pick(50);
    file.bytes += pick(file.bytes);
    file.nodes = static_cast<std::int32_t>(pick(300));
    file.ranks = file.nodes * static_cast<std::int32_t>(pick(64));
    file.osts = static_cast<std::int32_t>(pick(300));
    const LayoutChoice choice = choose_layout(file).value();
    const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(file.bytes) / 1e9));
    CHECK(choice.stripe_count >= 1);
    CHECK(choice.stripe_count <= file.osts);
    CHECK(choice.stripe_count >= std::min<std::int64_t>(root, file.osts));
    const std::int64_t each = file.bytes / choice.stripe_count;
    CHECK((choice.stripe_count <= std::max<std::int64_t>(1, root) ||
           each * 4 / 3 + 1 >= file.bytes_per_ost_min));
    CHECK(choice.stripe_size % (64 << 10) == 0);
    CHECK((choice.stripe_size == mebibyte || each / choice.stripe_size >= 16));
    const bool is_even =
        choice.stripe_count % file.nodes == 0 || file.nodes % choice.stripe_count == 0;
    const bool says_uneven = std::ranges::any_of(choice.reasons, [](const std::string& reason) {
      return reason.find("cannot share") != std::string::npos;
    });
    CHECK(says_uneven != is_even);
  }
}

}  // namespace
}  // namespace nacre::plan
