// TypeNode: one node of a type map's tree. Private to src/plan/type_map.cc, type_codec.cc and
// run_cursor.cc.
#ifndef NACRE_PLAN_TYPE_NODE_H_
#define NACRE_PLAN_TYPE_NODE_H_

#include <cstdint>
#include <memory>
#include <vector>

namespace nacre::plan {

struct TypeNode;
using NodePointer = std::shared_ptr<const TypeNode>;

/// The blocks of an indexed node. Block i lies at displacements[i] and holds copies
/// [first_copy[i], first_copy[i + 1]) of the child; where first_copy is empty every block holds
/// one.
struct BlockList {
  std::vector<std::int64_t> displacements;
  std::vector<std::int64_t> first_copy;

  [[nodiscard]] std::int64_t block_count() const {
    return static_cast<std::int64_t>(displacements.size());
  }
  [[nodiscard]] std::int64_t copies_before(std::int64_t block) const {
    return first_copy.empty() ? block : first_copy[static_cast<std::size_t>(block)];
  }
  [[nodiscard]] std::int64_t copies_in(std::int64_t block) const {
    return copies_before(block + 1) - copies_before(block);
  }
  /// The block that holds the child's copy number `copy`.
  [[nodiscard]] std::int64_t block_of(std::int64_t copy) const;
};

/// The members of a structure node, placed by their own shift, and the data bytes before each.
struct MemberList {
  std::vector<NodePointer> nodes;
  std::vector<std::int64_t> first_byte;
  [[nodiscard]] std::size_t member_of(std::int64_t byte) const;
};

/// Data lies relative to the node's origin: its own layout, displaced by `shift`. Only the bounds
/// of a whole type matter (lb, ub); those of inner nodes are baked into strides and displacements.
struct TypeNode {
  enum class Kind : std::uint8_t {
    bytes,      ///< `size` contiguous bytes at 0
    repeat,     ///< copy k of the child at k * stride
    indexed,    ///< blocks of copies of the child, `stride` apart inside a block
    structure,  ///< members one after the other in the data stream
  };
  Kind kind = Kind::bytes;
  bool monotone = true;  ///< offsets never decrease along the stream and no byte occurs twice
  std::int64_t size = 0;
  std::int64_t shift = 0;
  std::int64_t lb = 0;
  std::int64_t ub = 0;
  std::int64_t true_lb = 0;  ///< includes shift; 0 for a node without data
  std::int64_t true_ub = 0;
  std::int64_t run_count = 0;
  std::int64_t count = 0;   ///< repeat
  std::int64_t stride = 0;  ///< repeat; indexed: of copies inside a block
  NodePointer child;        ///< repeat, indexed
  std::shared_ptr<const BlockList> blocks;
  std::shared_ptr<const MemberList> members;

  /// One run: bytes, whatever the bounds.
  [[nodiscard]] bool is_run() const { return kind == Kind::bytes; }
};

/// Data bytes of `node` at offsets below `offset` (relative to the node's origin). node.monotone.
[[nodiscard]] std::int64_t bytes_before(const TypeNode& node, std::int64_t offset);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_TYPE_NODE_H_
