// TypeMap: the compact form of a datatype. It keeps the strides of regular datatypes and lists the
// runs of irregular ones: a 1024^3 subarray takes a few hundred bytes, an indexed type its lists.
//
// A type map places a stream of data bytes: data byte p of a type lies at a byte offset relative to
// the origin of the type, in the order of the MPI typemap (MPI-4.1, 5.1). A run is a maximal piece
// that is contiguous both in the data stream and in offsets, as far as the compact form shows it.
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

/// An aggregator that reads parts of a round also reads gaps up to this long: another call would
/// cost more than the bytes, far more over a network. This applies to local files too: other nodes
/// mostly request the bytes of the gap.
inline constexpr std::int64_t bridged_gap_bytes = 16 << 10;

/// An immutable value; copies share the tree, and any thread may use them. Builders normalise:
/// equal layouts from different constructors (a vector of contiguous blocks, a subarray, an indexed
/// type with a constant step) get the same few kinds of nodes. Builders return ErrorClass::type if
/// a size or a bound exceeds 64 bits, and never throw.
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
  /// displacements_bytes[i]. Both spans have one length. Empty blocks add no bytes and no bounds.
  [[nodiscard]] static Result<TypeMap> indexed(const TypeMap& child,
                                               std::span<const std::int64_t> block_lengths,
                                               std::span<const std::int64_t> displacements_bytes);

  struct Field {
    std::int64_t displacement_bytes = 0;
    std::int64_t block_length = 0;
    std::shared_ptr<const TypeNode> type;  // from TypeMap::node()
  };
  /// MPI_Type_create_struct: fields in typemap order.
  [[nodiscard]] static Result<TypeMap> structure(std::span<const Field> fields);

  /// The same bytes with other bounds (MPI_Type_create_resized).
  [[nodiscard]] Result<TypeMap> resized(std::int64_t lb, std::int64_t extent) const;

  [[nodiscard]] std::int64_t size() const;         ///< data bytes
  [[nodiscard]] std::int64_t lb() const;           ///< lower bound
  [[nodiscard]] std::int64_t extent() const;       ///< upper bound - lower bound
  [[nodiscard]] std::int64_t true_lb() const;      ///< first byte touched
  [[nodiscard]] std::int64_t true_extent() const;  ///< last byte touched + 1 - true_lb
  /// Runs in one copy. Adjacent runs of different branches of the tree count separately.
  [[nodiscard]] std::int64_t run_count() const;
  /// Gaps of more than bridged_gap_bytes between runs of one copy. Of a map that is not monotone,
  /// this and the next are estimates.
  [[nodiscard]] std::int64_t wide_gap_count() const;
  /// The bytes of all other gaps between runs of one copy.
  [[nodiscard]] std::int64_t near_gap_bytes() const;
  /// One run that fills the extent from lb on: copies have no gaps.
  [[nodiscard]] bool is_contiguous() const;
  /// Offsets never decrease along the data stream and no byte occurs twice.
  [[nodiscard]] bool is_monotone() const;
  /// No run begins at a lower offset than the run before it in the data stream; runs may overlap.
  /// O(nodes and blocks of the tree) if the map is not monotone.
  [[nodiscard]] bool is_nondecreasing() const;
  /// is_monotone() of any number of copies one extent apart.
  [[nodiscard]] bool tiles_monotone() const;
  /// Heap bytes of the tree; a shared node counts once per reference. An indexed type takes 4 to 16
  /// bytes per block, least if blocks have one length and are close to each other.
  [[nodiscard]] std::int64_t footprint_bytes() const;

  /// Appends the form in which a view is sent: varints, with displacements as differences.
  void encode(std::vector<std::byte>& out) const;
  /// Appends the encoding of indexed(bytes(1), lengths, offsets) of the runs without building it.
  /// There is at least one run; runs ascend from offset 0 on, and none touches the next.
  static void encode_runs(std::span<const Extent> runs, std::vector<std::byte>& out);
  /// Not nested deeper than decode() accepts.
  [[nodiscard]] bool is_encodable() const;
  /// Reads an encoding and moves `in` past it. The map equals the encoded map. Any input is safe:
  /// malformed, overflowing or too deep (over 64 levels) input gives ErrorClass::type, and memory
  /// is proportional to the length of the input.
  [[nodiscard]] static Result<TypeMap> decode(std::span<const std::byte>& in);

  [[nodiscard]] const std::shared_ptr<const TypeNode>& node() const { return node_; }
  /// Equal trees and bounds, which implies equal layouts. Equal layouts may have other trees.
  friend bool operator==(const TypeMap& a, const TypeMap& b);

 private:
  explicit TypeMap(std::shared_ptr<const TypeNode> node);
  [[nodiscard]] static Result<TypeMap> bounded(const Result<std::shared_ptr<const TypeNode>>& data,
                                               const Range& bounds);
  std::shared_ptr<const TypeNode> node_;
};

/// Whether the offsets and the span of `count` copies one extent apart fit 64 bits.
[[nodiscard]] bool copies_fit(const TypeMap& type, std::int64_t count);

/// Endless copies of a type map one extent apart, copy 0 displaced by `origin`: a file view (origin
/// = displacement) or a user's buffer. Its data stream is the streams of the copies one after the
/// other: data byte p lies in copy p / type.size().
struct TiledMap {
  TypeMap type;
  std::int64_t origin = 0;
};

/// The offset of data byte `position` (>= 0), which fits 64 bits. type.size() > 0.
[[nodiscard]] std::int64_t offset_of(const TiledMap& map, std::int64_t position);

/// The number of data bytes at offsets below `offset`. type.tiles_monotone() and type.size() > 0.
/// O(depth x log n).
[[nodiscard]] std::int64_t bytes_before(const TiledMap& map, std::int64_t offset);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_TYPES_TYPE_MAP_H_
