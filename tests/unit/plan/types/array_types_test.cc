// Goal: subarrays and darrays agree with MPI-4.1, 5.1.3 and 5.1.4, for all small arrays and grids.
#include "plan/types/array_types.h"

#include <array>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "type_oracle.h"

namespace nacre::plan {
namespace {

using fixtures::check_against;
using fixtures::PlainType;

/// An element type with a gap inside and a gap after it, so that its size and extent differ.
TypeMap element() { return *TypeMap::repeat(TypeMap::bytes(1), 2, 2)->resized(0, 4); }

/// The chosen indices of each dimension.
using Choice = std::vector<std::vector<bool>>;

/// The chosen elements of an array, by walking over all of its elements in storage order.
PlainType walk(const Choice& taken, ArrayOrder order) {
  PlainType plain;
  std::int64_t elements = 1;
  for (const auto& dimension : taken) elements *= std::ssize(dimension);
  for (std::int64_t e = 0; e < elements; ++e) {
    std::int64_t rest = e;
    bool in = true;
    for (std::size_t k = 0; k < taken.size(); ++k) {
      const auto& dimension = taken[order == ArrayOrder::fortran ? k : taken.size() - 1 - k];
      in = in && dimension[static_cast<std::size_t>(rest % std::ssize(dimension))];
      rest /= std::ssize(dimension);
    }
    if (!in) continue;
    plain.bytes.push_back(4 * e);
    plain.bytes.push_back(4 * e + 2);
  }
  plain.ub = 4 * elements;
  return plain;
}

std::vector<SubarrayDimension> small_subarrays() {
  std::vector<SubarrayDimension> all;
  for (std::int64_t size = 1; size <= 3; ++size) {
    for (std::int64_t subsize = 1; subsize <= size; ++subsize) {
      for (std::int64_t start = 0; start + subsize <= size; ++start) {
        all.push_back({size, subsize, start});
      }
    }
  }
  return all;
}

void check_subarray(const std::vector<SubarrayDimension>& dimensions) {
  Choice taken;
  for (const SubarrayDimension& d : dimensions) {
    std::vector<bool> indices(static_cast<std::size_t>(d.size), false);
    for (std::int64_t i = 0; i < d.subsize; ++i)
      indices[static_cast<std::size_t>(d.start + i)] = true;
    taken.push_back(indices);
  }
  for (const ArrayOrder order : {ArrayOrder::c, ArrayOrder::fortran}) {
    const Result<TypeMap> map = subarray(dimensions, order, element());
    REQUIRE(map.ok());
    check_against(*map, walk(taken, order));
  }
}

TEST_CASE("every subarray of up to three small dimensions") {
  const std::vector<SubarrayDimension> all = small_subarrays();
  for (const SubarrayDimension& a : all) {
    check_subarray({a});
    for (const SubarrayDimension& b : all) {
      check_subarray({a, b});
      for (const SubarrayDimension& c : all) check_subarray({a, b, c});
    }
  }
}

TEST_CASE("subarrays that are not inside their array are refused") {
  for (const SubarrayDimension& d :
       {SubarrayDimension{4, 5, 0}, {4, 0, 0}, {4, 2, 3}, {4, 2, -1}, {0, 0, 0}, {-1, 1, 0}}) {
    const Result<TypeMap> map = subarray(std::span(&d, 1), ArrayOrder::c, element());
    REQUIRE_FALSE(map.ok());
    CHECK(map.error().error_class == ErrorClass::type);
  }
  const std::array<SubarrayDimension, 2> huge{{{INT64_MAX, 1, 0}, {INT64_MAX, 1, 0}}};
  CHECK_FALSE(subarray(huge, ArrayOrder::c, element()).ok());
}

TEST_CASE("a subarray of 1024^3 costs less than 1 KiB") {
  const std::array<SubarrayDimension, 3> cube{
      {{2048, 1024, 512}, {2048, 1024, 512}, {2048, 1024, 512}}};
  const TypeMap map = *subarray(cube, ArrayOrder::c, TypeMap::bytes(8));
  CHECK(map.size() == std::int64_t{8} << 30);
  CHECK(map.run_count() == 1024 * 1024);
  CHECK(map.footprint_bytes() < 1024);
}

/// The distribution of a dimension over all processes of a grid.
struct Dealt {
  std::int64_t size;
  Distribution distribution;
  std::int64_t argument;
  std::int64_t process_count;

  [[nodiscard]] std::int64_t block() const {
    if (distribution == Distribution::none) return size;
    if (argument != DarrayDimension::default_argument) return argument;
    return distribution == Distribution::cyclic ? 1 : (size + process_count - 1) / process_count;
  }
  [[nodiscard]] std::vector<bool> taken_by(std::int64_t process) const {
    std::vector<bool> indices;
    for (std::int64_t i = 0; i < size; ++i)
      indices.push_back(i / block() % process_count == process);
    return indices;
  }
  [[nodiscard]] DarrayDimension of(std::int64_t process) const {
    return {size, distribution, argument, process_count, process};
  }
};

/// All distributions of up to `size_max` indices over up to `process_max` processes.
std::vector<Dealt> small_dealings(std::int64_t size_max, std::int64_t process_max) {
  std::vector<Dealt> all;
  for (std::int64_t size = 1; size <= size_max; ++size) {
    all.push_back({size, Distribution::none, DarrayDimension::default_argument, 1});
    for (std::int64_t processes = 1; processes <= process_max; ++processes) {
      all.push_back({size, Distribution::block, DarrayDimension::default_argument, processes});
      all.push_back({size, Distribution::cyclic, DarrayDimension::default_argument, processes});
      for (std::int64_t argument = 1; argument <= size + 2; ++argument) {
        all.push_back({size, Distribution::cyclic, argument, processes});
        if (argument * processes < size) continue;
        all.push_back({size, Distribution::block, argument, processes});
      }
    }
  }
  return all;
}

void check_darray(const std::vector<Dealt>& dealt, ArrayOrder order) {
  std::int64_t processes = 1;
  std::int64_t elements = 1;
  for (const Dealt& d : dealt) {
    processes *= d.process_count;
    elements *= d.size;
  }
  std::vector<int> owners(static_cast<std::size_t>(4 * elements), 0);
  for (std::int64_t process = 0; process < processes; ++process) {
    std::int64_t rest = process;
    std::vector<DarrayDimension> dimensions;
    Choice taken;
    for (const Dealt& d : dealt) {
      dimensions.push_back(d.of(rest % d.process_count));
      taken.push_back(d.taken_by(rest % d.process_count));
      rest /= d.process_count;
    }
    const Result<TypeMap> map = darray(dimensions, order, element());
    REQUIRE(map.ok());
    const PlainType plain = walk(taken, order);
    check_against(*map, plain);
    for (const std::int64_t byte : plain.bytes) ++owners[static_cast<std::size_t>(byte)];
  }
  for (std::size_t byte = 0; byte < owners.size(); ++byte) {
    REQUIRE(owners[byte] == (byte % 2 == 0 ? 1 : 0));
  }
}

TEST_CASE("every darray of one small dimension: each element has one owner") {
  for (const Dealt& d : small_dealings(9, 5)) check_darray({d}, ArrayOrder::c);
}

TEST_CASE("every darray of two small dimensions, both orders") {
  const std::vector<Dealt> all = small_dealings(4, 3);
  for (const Dealt& a : all) {
    for (const Dealt& b : all) {
      check_darray({a, b}, ArrayOrder::c);
      check_darray({a, b}, ArrayOrder::fortran);
    }
  }
}

TEST_CASE("darrays of three dimensions") {
  const std::vector<Dealt> some{{3, Distribution::none, DarrayDimension::default_argument, 1},
                                {5, Distribution::block, DarrayDimension::default_argument, 3},
                                {5, Distribution::cyclic, 2, 2},
                                {2, Distribution::cyclic, DarrayDimension::default_argument, 3}};
  for (const Dealt& a : some) {
    for (const Dealt& b : some) {
      for (const Dealt& c : some) {
        check_darray({a, b, c}, ArrayOrder::c);
        check_darray({a, b, c}, ArrayOrder::fortran);
      }
    }
  }
}

TEST_CASE("darrays that MPI forbids are refused") {
  constexpr std::int64_t dflt = DarrayDimension::default_argument;
  for (const DarrayDimension& d : {DarrayDimension{10, Distribution::block, 3, 3, 0},
                                   {10, Distribution::block, 0, 3, 0},
                                   {10, Distribution::cyclic, -2, 3, 0},
                                   {10, Distribution::cyclic, dflt, 3, 3},
                                   {10, Distribution::cyclic, dflt, 3, -1},
                                   {10, Distribution::cyclic, dflt, 0, 0},
                                   {0, Distribution::cyclic, dflt, 3, 0},
                                   {10, Distribution::none, dflt, 3, 0}}) {
    const Result<TypeMap> map = darray(std::span(&d, 1), ArrayOrder::c, element());
    REQUIRE_FALSE(map.ok());
    CHECK(map.error().error_class == ErrorClass::type);
  }
}

TEST_CASE("huge dimensions are distributed without overflow") {
  constexpr std::int64_t size = std::int64_t{1} << 62;
  const DarrayDimension last{size, Distribution::block, size, 8, 7};
  CHECK(darray(std::span(&last, 1), ArrayOrder::c, TypeMap::bytes(1))->size() == 0);
  const DarrayDimension cyclic{size, Distribution::cyclic, size / 2 + 1, 1 << 20, 1};
  const TypeMap map = *darray(std::span(&cyclic, 1), ArrayOrder::c, TypeMap::bytes(1));
  CHECK(map.size() == size / 2 - 1);
  CHECK(map.true_lb() == size / 2 + 1);
  CHECK(map.extent() == size);
}

}  // namespace
}  // namespace nacre::plan
