// What summaries say of nodes.
#include "plan/call/access_summary.h"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::plan {
namespace {

AccessSummary rank_at(std::int64_t offset, std::int64_t bytes, std::int32_t node) {
  const FileAccess access{{TypeMap::bytes(1), offset}, 0, bytes};
  return summarize(access, {nullptr, TypeMap::bytes(1), bytes}, node);
}

AccessSummary summary_of(const TypeMap& view, std::int64_t copies = 1) {
  FileAccess access;
  access.view.type = view;
  access.byte_count = copies * view.size();
  return summarize(access, {nullptr, TypeMap::bytes(1), access.byte_count});
}

}  // namespace

TEST_CASE("the bounds of nodes add up, in the order in which ranks are reduced") {
  AccessSummary first = rank_at(0, 10, 0);
  fold(first, rank_at(90, 10, 0));
  AccessSummary second = rank_at(20, 10, 1);
  fold(second, rank_at(40, 30, 1));
  AccessSummary third;  // a node without data
  third.node = 2;
  fold(second, third);
  fold(first, second);
  CHECK(first.node_span_bytes() == 100 + 50);
  CHECK(first.node_bytes_max() == 40);
  CHECK(first.bounds == Extent{0, 100});
}

TEST_CASE("nodes with data are counted once") {
  AccessSummary first;  // of rank 0, which has no data
  first.node = 0;
  AccessSummary second = rank_at(10, 10, 1);
  fold(second, rank_at(20, 10, 1));
  AccessSummary empty;
  empty.node = 2;
  fold(first, second);
  fold(first, empty);
  CHECK(first.node_count() == 1);
  fold(first, rank_at(30, 10, 0));
  fold(first, rank_at(40, 10, 0));
  CHECK(first.node_count() == 2);
  CHECK(first.node_span_bytes() == 40);
  CHECK(AccessSummary().node_count() == 0);
}

TEST_CASE("the summary of a rank without data takes the node of the other") {
  AccessSummary summary;
  fold(summary, rank_at(0, 10, 3));
  fold(summary, rank_at(10, 10, 3));
  CHECK(summary.node_span_bytes() == 20);
  CHECK(summary.node_bytes_max() == 20);
}

TEST_CASE("a summary knows whether a view lists its runs one by one") {
  constexpr std::int64_t runs = 1000;
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < runs; ++i) {
    lengths.push_back(1 + i % 7);
    offsets.push_back(20 * i + i * i % 11);
  }
  const TypeMap listed = TypeMap::indexed(TypeMap::bytes(1), lengths, offsets).value();
  const TypeMap strided = TypeMap::repeat(TypeMap::bytes(3), runs, 20).value();
  AccessSummary both = summary_of(strided);
  CHECK_FALSE(bool{both.lists_runs});
  fold(both, summary_of(listed));
  CHECK(bool{both.lists_runs});
  CHECK(both.run_count == 2 * runs);
}

TEST_CASE("gaps that reads bridge are told from others, also between copies of the view") {
  const TypeMap rows = TypeMap::repeat(TypeMap::bytes(100), 8, 300).value();
  const TypeMap planes = TypeMap::repeat(rows, 3, 50'000).value();
  AccessSummary both = summary_of(planes);
  CHECK(both.wide_gap_count == 2);
  CHECK(both.near_gap_bytes == 3 * 7 * 200);
  const auto tiled = [&](std::int64_t extent) {
    return summary_of(planes.resized(0, extent).value(), 4);
  };
  CHECK(tiled(planes.extent() + 1000).wide_gap_count == 4 * 2);
  CHECK(tiled(planes.extent() + 1000).near_gap_bytes == 4 * 3 * 7 * 200 + 3 * 1000);
  CHECK(tiled(planes.extent() + 20'000).wide_gap_count == 4 * 2 + 3);
  fold(both, tiled(planes.extent() + 20'000));
  CHECK(both.wide_gap_count == 2 + 11);
  CHECK(both.near_gap_bytes == 5 * 3 * 7 * 200);
}

}  // namespace nacre::plan
