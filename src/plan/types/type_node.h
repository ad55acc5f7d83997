// TypeNode: a node of the tree of a type map, and the builders that normalise trees. Private to
// type_map.cc, type_codec.cc and the cursor.
#ifndef NACRE_PLAN_TYPES_TYPE_NODE_H_
#define NACRE_PLAN_TYPES_TYPE_NODE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "plan/types/number_list.h"

namespace nacre::plan {

struct TypeNode;
using NodePointer = std::shared_ptr<const TypeNode>;

/// The blocks of an indexed node. Block i lies at displacements[i] and holds copies
/// [first_copy[i], first_copy[i + 1]) of the child. If first_copy is empty, each block holds one.
struct BlockList {
  NumberList displacements;
  NumberList first_copy;

  [[nodiscard]] std::int64_t block_count() const { return displacements.size(); }
  [[nodiscard]] std::int64_t copies_before(std::int64_t block) const {
    return first_copy.empty() ? block : first_copy[block];
  }
  [[nodiscard]] std::int64_t copies_in(std::int64_t block) const {
    return first_copy.empty() ? 1 : first_copy[block + 1] - first_copy[block];
  }
  /// The block that holds the child's copy number `copy`.
  [[nodiscard]] std::int64_t block_of(std::int64_t copy) const {
    return first_copy.empty() ? copy : first_copy.lower_bound(copy + 1) - 1;
  }
};

/// The members of a structure node, which their own shifts place, and the data bytes before each.
struct MemberList {
  std::vector<NodePointer> nodes;
  std::vector<std::int64_t> first_byte;
  /// The member that holds data byte `byte`.
  [[nodiscard]] std::size_t member_of(std::int64_t byte) const;
};

/// The first data byte lies at `shift` from the origin of the node; strides and displacements are
/// relative to that byte. Only the root's bounds (lb, ub) matter: strides and displacements include
/// the bounds of inner nodes. Inner nodes have data, and shift 0 unless they are members of a
/// structure.
struct TypeNode {
  enum class Kind : std::uint8_t {
    bytes,      ///< `size` contiguous bytes
    repeat,     ///< copy k of the child at k * stride
    indexed,    ///< two or more blocks of copies of the child, `stride` apart in a block
    structure,  ///< two or more members, one after the other in the data stream
  };
  Kind kind = Kind::bytes;
  bool monotone = true;  ///< offsets never decrease along the stream and no byte occurs twice
  std::int64_t size = 0;
  std::int64_t shift = 0;
  std::int64_t lb = 0;  ///< from the origin, like all bounds
  std::int64_t ub = 0;
  std::int64_t true_lb = 0;  ///< 0 for a node without data
  std::int64_t true_ub = 0;
  std::int64_t run_count = 0;
  std::int64_t wide_gap_count = 0;  ///< as in TypeMap
  std::int64_t near_gap_bytes = 0;
  std::int64_t count = 0;   ///< repeat
  std::int64_t stride = 0;  ///< repeat; indexed: 0 if every block holds one copy
  NodePointer child;        ///< repeat, indexed
  std::shared_ptr<const BlockList> blocks;
  std::shared_ptr<const MemberList> members;

  [[nodiscard]] bool is_run() const { return kind == Kind::bytes; }
  [[nodiscard]] std::int64_t data_span() const { return true_ub - true_lb; }
};

/// Bounds that grow with the data added; records if they exceed 64 bits.
class Range {
 public:
  Range() = default;
  Range(std::int64_t begin, std::int64_t end) : empty_(false), begin_(begin), end_(end) {}

  /// Adds `count` (> 0) copies of `of`, copy k displaced by base + k * stride.
  void add_copies(std::int64_t base, std::int64_t count, std::int64_t stride, const Range& of);
  [[nodiscard]] bool overflowed() const;
  [[nodiscard]] std::int64_t begin() const { return begin_; }
  [[nodiscard]] std::int64_t end() const { return end_; }

 private:
  bool empty_ = true;
  bool overflowed_ = false;
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
};

/// `copies` (> 0) copies of a child.
struct Block {
  std::int64_t displacement = 0;
  std::int64_t copies = 0;
};

/// The error of builders if a size or an offset exceeds 64 bits.
[[nodiscard]] Error overflow_error();

// The builders. They ignore the bounds of their arguments and return the bounds of the data. All
// but make_bytes and with_bounds fail if a size, an offset or the distance of two offsets exceeds
// 64 bits.

[[nodiscard]] NodePointer make_bytes(std::int64_t size);
[[nodiscard]] Result<NodePointer> make_copies(const NodePointer& child, std::int64_t count,
                                              std::int64_t stride);
/// Blocks of copies `stride` apart. A block that continues the block before it is joined to it.
[[nodiscard]] Result<NodePointer> make_blocks(const NodePointer& child, std::vector<Block> blocks,
                                              std::int64_t stride);
/// The same for blocks of one copy each, which are not joined.
[[nodiscard]] Result<NodePointer> make_single_blocks(const NodePointer& child,
                                                     std::vector<Block> blocks);
[[nodiscard]] Result<NodePointer> make_members(const std::vector<NodePointer>& parts);
[[nodiscard]] Result<NodePointer> moved(const NodePointer& node, std::int64_t by);
/// The same data with other bounds.
[[nodiscard]] NodePointer with_bounds(const NodePointer& node, std::int64_t lb, std::int64_t ub);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_TYPES_TYPE_NODE_H_
