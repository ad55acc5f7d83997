// A datatype as the plain list of the offsets of its bytes, built by the rules of MPI-4.1, chapter
// 5, together with its TypeMap, and a generator of random datatypes.
#ifndef NACRE_TESTS_UNIT_PLAN_TYPE_ORACLE_H_
#define NACRE_TESTS_UNIT_PLAN_TYPE_ORACLE_H_

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "plan/types/type_map.h"

namespace nacre::plan::fixtures {

struct PlainType {
  std::vector<std::int64_t> bytes;  ///< offset of each data byte, in stream order
  std::int64_t lb = 0;
  std::int64_t ub = 0;
  [[nodiscard]] std::int64_t extent() const { return ub - lb; }
};

struct TypePair {
  TypeMap map;
  PlainType plain;
};

/// The offsets of `tiles` copies, which start at `origin` and are one extent apart.
inline std::vector<std::int64_t> tile(const PlainType& plain, std::int64_t origin,
                                      std::int64_t tiles) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t t = 0; t < tiles; ++t) {
    for (const std::int64_t byte : plain.bytes)
      offsets.push_back(origin + t * plain.extent() + byte);
  }
  return offsets;
}

/// Whether a run, as long as it can be, begins at a lower offset than the run before it.
inline bool runs_decrease(const std::vector<std::int64_t>& bytes) {
  std::int64_t run = bytes.front();
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    if (bytes[i] == bytes[i - 1] + 1) continue;
    if (bytes[i] < run) return true;
    run = bytes[i];
  }
  return false;
}

/// Gaps that reads do not bridge, and the bytes of all others.
struct Gaps {
  std::int64_t wide_count = 0;
  std::int64_t near_bytes = 0;
};
/// `bytes` ascend.
inline Gaps gaps_of(const std::vector<std::int64_t>& bytes) {
  Gaps gaps;
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    const std::int64_t gap = bytes[i] - bytes[i - 1] - 1;
    if (gap > bridged_gap_bytes) {
      ++gaps.wide_count;
    } else {
      gaps.near_bytes += gap;
    }
  }
  return gaps;
}

inline void check_against(const TypeMap& map, const PlainType& plain) {
  REQUIRE(map.size() == std::ssize(plain.bytes));
  CHECK(map.lb() == plain.lb);
  CHECK(map.extent() == plain.extent());
  if (plain.bytes.empty()) return;
  const auto [least, greatest] = std::ranges::minmax(plain.bytes);
  CHECK(map.true_lb() == least);
  CHECK(map.true_extent() == greatest + 1 - least);
  const bool monotone =
      std::ranges::adjacent_find(plain.bytes, std::ranges::greater_equal()) == plain.bytes.end();
  CHECK(map.is_monotone() == monotone);
  if (monotone) {
    const Gaps gaps = gaps_of(plain.bytes);
    CHECK(map.wide_gap_count() == gaps.wide_count);
    CHECK(map.near_gap_bytes() == gaps.near_bytes);
  }
  // The map may split runs, so it may see a decrease that longer runs do not have.
  if (runs_decrease(plain.bytes)) CHECK_FALSE(map.is_nondecreasing());
  if (std::ranges::is_sorted(plain.bytes)) CHECK(map.is_nondecreasing());
  CHECK(map.tiles_monotone() == (monotone && plain.extent() >= greatest + 1 - least));
  for (std::int64_t i = 0; i < map.size(); ++i) {
    REQUIRE(offset_of({map, 0}, i) == plain.bytes[static_cast<std::size_t>(i)]);
  }
}

class TypeGenerator {
 public:
  explicit TypeGenerator(std::uint64_t seed) : random_(seed) {}

  std::int64_t pick(std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(random_);
  }

  /// A random type of at most about ten thousand bytes.
  TypePair any(int depth) {
    TypePair pair = any_of_any_size(depth);
    return pair.plain.bytes.size() > 1000 ? leaf() : pair;
  }

  /// A random type whose copies are monotone, as in a file view.
  TypePair monotone(int depth) {
    if (depth == 0) return leaf();
    TypePair child = monotone(depth - 1);
    if (child.plain.bytes.size() > 1000) return child;
    const std::int64_t reach = child.plain.extent();
    TypePair made;
    switch (pick(0, 3)) {
      case 0:
        made = indexed(std::move(child), true);
        break;
      case 1:
        made = pair_of(std::move(child), monotone(depth - 1));
        break;
      default:
        made = repeat(std::move(child), pick(1, 4), reach + pick(0, 9));
        break;
    }
    const std::int64_t end = made_end(made);
    return resized(std::move(made), 0, end + pick(0, 7));
  }

 private:
  TypePair any_of_any_size(int depth) {
    if (depth == 0) return leaf();
    switch (pick(0, 5)) {
      case 0:
        return leaf();
      case 1:
        return repeat(any(depth - 1), pick(0, 4), pick(-20, 40));
      case 2:
        return indexed(any(depth - 1), false);
      case 3:
        return structure(depth);
      case 4:
        return resized(any(depth - 1), pick(-10, 10), pick(-20, 60));
      default: {
        TypePair child = any(depth - 1);
        const std::int64_t extent = child.plain.extent();
        return repeat(std::move(child), pick(0, 5), extent);
      }
    }
  }

  static std::int64_t made_end(const TypePair& pair) {
    std::int64_t end = pair.plain.ub;
    for (const std::int64_t byte : pair.plain.bytes) end = std::max(end, byte + 1);
    return std::max<std::int64_t>(end, 1);
  }

  TypePair leaf() {
    const std::int64_t size = pick(0, 8);
    TypePair pair{TypeMap::bytes(size), {}};
    for (std::int64_t i = 0; i < size; ++i) pair.plain.bytes.push_back(i);
    pair.plain.ub = size;
    return pair;
  }

  /// Adds a copy of `child` at `offset` to `into`.
  static void place(const PlainType& child, std::int64_t offset, PlainType& into, bool& first) {
    for (const std::int64_t byte : child.bytes) into.bytes.push_back(offset + byte);
    into.lb = first ? offset + child.lb : std::min(into.lb, offset + child.lb);
    into.ub = first ? offset + child.ub : std::max(into.ub, offset + child.ub);
    first = false;
  }

  static TypePair repeat(TypePair child, std::int64_t count, std::int64_t stride) {
    TypePair pair{*TypeMap::repeat(child.map, count, stride), {}};
    bool first = true;
    for (std::int64_t k = 0; k < count; ++k) place(child.plain, k * stride, pair.plain, first);
    return pair;
  }

  TypePair indexed(TypePair child, bool monotone_only) {
    const std::int64_t count = pick(monotone_only ? 1 : 0, 4);
    const bool uniform = pick(0, 1) == 0;
    const std::int64_t length = pick(0, 3);
    const std::int64_t extent = child.plain.extent();
    std::vector<std::int64_t> lengths;
    std::vector<std::int64_t> displacements;
    std::int64_t next = pick(0, 5);
    for (std::int64_t i = 0; i < count; ++i) {
      lengths.push_back(uniform ? length : pick(0, 3));
      displacements.push_back(monotone_only ? next : pick(-30, 60));
      next += lengths.back() * extent + pick(0, 6);
    }
    TypePair pair{*TypeMap::indexed(child.map, lengths, displacements), {}};
    bool first = true;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      for (std::int64_t k = 0; k < lengths[i]; ++k) {
        place(child.plain, displacements[i] + k * extent, pair.plain, first);
      }
    }
    return pair;
  }

  TypePair structure(int depth) {
    std::vector<TypePair> children;
    std::vector<TypeMap::Field> fields;
    PlainType plain;
    bool first = true;
    const std::int64_t count = pick(0, 3);
    for (std::int64_t i = 0; i < count; ++i) {
      children.push_back(any(depth - 1));
      const std::int64_t length = pick(0, 2);
      const std::int64_t displacement = pick(-30, 60);
      fields.push_back({displacement, length, children.back().map.node()});
      for (std::int64_t k = 0; k < length; ++k) {
        place(children.back().plain, displacement + k * children.back().plain.extent(), plain,
              first);
      }
    }
    return {*TypeMap::structure(fields), plain};
  }

  /// A structure of `a` and, after it, `b`.
  TypePair pair_of(TypePair a, TypePair b) {
    const std::int64_t second = made_end(a) + pick(0, 5);
    const std::vector<TypeMap::Field> fields{{0, 1, a.map.node()}, {second, 1, b.map.node()}};
    PlainType plain;
    bool first = true;
    place(a.plain, 0, plain, first);
    place(b.plain, second, plain, first);
    return {*TypeMap::structure(fields), plain};
  }

  static TypePair resized(TypePair child, std::int64_t lb, std::int64_t extent) {
    child.map = *child.map.resized(lb, extent);
    child.plain.lb = lb;
    child.plain.ub = lb + extent;
    return child;
  }

  std::mt19937_64 random_;
};

}  // namespace nacre::plan::fixtures

#endif  // NACRE_TESTS_UNIT_PLAN_TYPE_ORACLE_H_
