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

AccessSummary summary_of(const TypeMap& view) {
  FileAccess access;
  access.view.type = view;
  access.byte_count = view.size();
  return summarize(access, {nullptr, TypeMap::bytes(1), view.size()});
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

TEST_CASE("runs that a view lists one by one are counted apart from those of strides") {
  constexpr std::int64_t runs = 1000;
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < runs; ++i) {
    lengths.push_back(1 + i % 7);
    offsets.push_back(20 * i + i * i % 11);
  }
  const TypeMap listed = TypeMap::indexed(TypeMap::bytes(1), lengths, offsets).value();
  const TypeMap strided = TypeMap::repeat(TypeMap::bytes(3), runs, 20).value();
  AccessSummary both = summary_of(listed);
  CHECK(both.listed_run_count == runs);
  fold(both, summary_of(strided));
  CHECK(both.listed_run_count == runs);
  CHECK(both.run_count == 2 * runs);
}

}  // namespace nacre::plan
