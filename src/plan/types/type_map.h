// TypeMap: the compact form of a datatype. It keeps strides where the datatype has them and runs
// where it does not, so that a 1024^3 subarray costs a few hundred bytes and an indexed type costs
// its lists.
//
// A type map lays out a stream of data bytes: data byte p of a type lies at some byte offset
// relative to the type's origin, in the order of the MPI typemap (MPI-4.1, 5.1). "Run" is a maximal
// piece that is contiguous in the data stream and in offsets alike, as far as the compact form
// shows it.
#ifndef NACRE_PLAN_TYPES_TYPE_MAP_H_
#define NACRE_PLAN_TYPES_TYPE_MAP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/extent.h"
#include "base/result.h"

namespace nacre::plan {

struct TypeNode;  // the tree behind a TypeMap (type_node.h), private to this floor
class Range;

/// An immutable value; copies share the tree and may be used from any thread. Builders normalise:
/// equal layouts made in different ways (a vector of contiguous blocks, a subarray, an indexed type
/// with a constant step) come out as the same few node kinds. Builders return ErrorClass::type when
/// a size or bound overflows 64 bits, and never throw.
class TypeMap {
 public:
  /// No bytes, extent 0.
  TypeMap();

  /// `size` contiguous bytes at offset 0; extent = size.
  [[nodiscard]] static TypeMap bytes(std::int64_t size);

  /// `count` copies of `child`, copy k displaced by k * stride_bytes. count >= 0; stride may be
  /// negative. Bounds follow the MPI rules (the union of the copies' bounds).
  [[nodiscard]] static Result<TypeMap> repeat(const TypeMap& child, std::int64_t count,
                                              std::int64_t stride_bytes);

  /// Block i: block_lengths[i] copies of `child`, one child extent apart, displaced by
  /// displacements_bytes[i]. Both of one length. Empty blocks add nothing, not even bounds.
  [[nodiscard]] static Result<TypeMap> indexed(const TypeMap& child,
                                               std::span<const std::int64_t> block_lengths,
                                               std::span<const std::int64_t> displacements_bytes);

  struct Field {
    std::int64_t displacement_bytes = 0;
    std::int64_t block_length = 0;
    std::shared_ptr<const TypeNode> type;  // from TypeMap::node()
  };
  /// The struct constructor: fields in typemap order.
  [[nodiscard]] static Result<TypeMap> structure(std::span<const Field> fields);

  /// The same bytes with other bounds (MPI_Type_create_resized).
  [[nodiscard]] Result<TypeMap> resized(std::int64_t lb, std::int64_t extent) const;

  [[nodiscard]] std::int64_t size() const;         ///< data bytes
  [[nodiscard]] std::int64_t lb() const;           ///< lower bound
  [[nodiscard]] std::int64_t extent() const;       ///< upper bound - lower bound
  [[nodiscard]] std::int64_t true_lb() const;      ///< first byte touched
  [[nodiscard]] std::int64_t true_extent() const;  ///< last byte touched + 1 - true_lb
  /// Runs in one copy as the tree shows them; adjacent runs of different branches count apart.
  [[nodiscard]] std::int64_t run_count() const;
  /// One run that starts at lb and fills the extent: copies of it tile without gaps.
  [[nodiscard]] bool is_contiguous() const;
  /// Offsets never decrease along the data stream and no byte occurs twice.
  [[nodiscard]] bool is_monotone() const;
  /// As is_monotone, for any number of copies laid one extent apart.
  [[nodiscard]] bool tiles_monotone() const;
  /// Heap bytes that the tree holds, shared nodes counted once per reference. An indexed type of n
  /// blocks: 4 to 16 a block, by whether the blocks are of one length and near each other.
  [[nodiscard]] std::int64_t footprint_bytes() const;

  /// Portable little-endian form: varints, displacement lists delta-coded. For sending a view once.
  void encode(std::vector<std::byte>& out) const;
  /// What encode() writes of indexed(bytes(1), lengths, offsets) where runs have these, without
  /// building it. At least one run, in ascending order, none touching the next, from offset 0 on.
  static void encode_runs(std::span<const Extent> runs, std::vector<std::byte>& out);
  /// Nested no deeper than decode() takes.
  [[nodiscard]] bool is_encodable() const;
  /// Reads what encode() wrote and moves `in` past it; the map equals the one that was encoded. Any
  /// input is safe: what is malformed, too deep (more than 64 levels) or overflowing gives
  /// ErrorClass::type, and the memory taken is in proportion to the input's length.
  [[nodiscard]] static Result<TypeMap> decode(std::span<const std::byte>& in);

  [[nodiscard]] const std::shared_ptr<const TypeNode>& node() const { return node_; }
  /// Same tree shape and numbers (so: same layout; the converse need not hold).
  friend bool operator==(const TypeMap& a, const TypeMap& b);

 private:
  explicit TypeMap(std::shared_ptr<const TypeNode> node);
  [[nodiscard]] static Result<TypeMap> bounded(const Result<std::shared_ptr<const TypeNode>>& data,
                                               const Range& bounds);
  std::shared_ptr<const TypeNode> node_;
};

/// Whether the data of `count` copies, laid one extent apart, has offsets and a span of 64 bits.
[[nodiscard]] bool copies_fit(const TypeMap& type, std::int64_t count);

/// Copies of a type map laid one extent apart without end, copy 0 displaced by `origin`: a file
/// view (origin = displacement) or a user's buffer of `count` elements. Its data stream is the
/// copies' streams one after the other: data byte p lies in copy p / type.size().
struct TiledMap {
  TypeMap type;
  std::int64_t origin = 0;
};

/// Where data byte `position` (>= 0) lies, which is to fit 64 bits. type.size() > 0.
[[nodiscard]] std::int64_t offset_of(const TiledMap& map, std::int64_t position);

/// How many data bytes lie at offsets below `offset`. type.tiles_monotone() and type.size() > 0.
/// O(depth x log n) for any offset.
[[nodiscard]] std::int64_t bytes_before(const TiledMap& map, std::int64_t offset);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_TYPES_TYPE_MAP_H_
