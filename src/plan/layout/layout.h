// Layouts: on which storage targets (OSTs; on CephFS, OSDs) of a file system the bytes of a file
// lie. lov_codec.h converts them to the bytes of Lustre's xattr `lustre.lov`, ceph_layout.h to the
// text of CephFS's xattr `ceph.file.layout`; stripe_map.h interprets them.
#ifndef NACRE_PLAN_LAYOUT_LAYOUT_H_
#define NACRE_PLAN_LAYOUT_LAYOUT_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace nacre::plan {

[[nodiscard]] inline Error layout_error(const std::string& what) {
  return Error{ErrorClass::file, 0, "layout (lustre.lov): " + what};
}

/// The end of a component that covers the rest of the file.
inline constexpr std::int64_t layout_end_of_file = std::numeric_limits<std::int64_t>::max();

// The limits of Lustre. A stripe size is a multiple of stripe_size_unit.
inline constexpr std::int64_t stripe_size_unit = 64 << 10;
inline constexpr std::int64_t stripe_size_max = (std::int64_t{4} << 30) - stripe_size_unit;
inline constexpr std::int32_t stripe_count_max = 2000;
inline constexpr std::int32_t stripes_on_ost_max = 32;
inline constexpr std::int32_t first_ost_max = 0xfffe;

/// A stripe count: one stripe on each OST. One less: two on each, and so on.
inline constexpr std::int32_t stripes_on_all_osts = 0xffff;
/// Whether the count is a multiple of the number of OSTs.
[[nodiscard]] constexpr bool stands_for_osts(std::int32_t stripe_count) {
  return stripe_count > stripes_on_all_osts - stripes_on_ost_max;
}
/// The count that lfs shows: -2 for two stripes on each OST.
[[nodiscard]] constexpr std::int32_t stripe_count_in_words(std::int32_t stripe_count) {
  return stands_for_osts(stripe_count) ? stripe_count - stripes_on_all_osts - 1 : stripe_count;
}

enum class StripePattern : std::uint8_t {
  raid0,
  mdt,  ///< on the metadata target itself (data on MDT)
};

/// The object of one slot.
struct OstObject {
  std::uint64_t sequence = 0;  // FID: sequence, object_id, version
  std::uint32_t object_id = 0;
  std::uint32_t version = 0;
  std::uint32_t generation = 0;
  std::int32_t ost = 0;

  friend bool operator==(const OstObject&, const OstObject&) = default;
};

/// How a plain file or a component is striped.
struct Striping {
  StripePattern pattern = StripePattern::raid0;
  bool overstriped = false;  ///< one OST may have several slots
  bool released = false;     ///< the data are elsewhere (HSM) until they are restored
  bool parity = false;       ///< erasure coding: the objects hold parity, not bytes of the file
  /// Bytes; 0: the default. In a component that extends: the bytes of one extension.
  std::int64_t stripe_size = 0;
  /// CephFS: bytes of an object. The stripes behind the objects of all slots are in other objects,
  /// on OSTs that clients do not know. 0: an object holds all stripes of its slot (Lustre).
  std::int64_t object_size = 0;
  std::int32_t stripe_count = 0;               ///< 0: the default; or stripes_on_all_osts
  std::optional<std::int32_t> first_ost = {};  ///< requested; objects name their OSTs
  std::optional<std::string> pool = {};        ///< of OSTs; "": the record has an empty name
  std::vector<OstObject> objects = {};         ///< by slot; empty before the first write
  bool lists_osts = false;                     ///< objects only request OSTs, in this order
  std::uint64_t file_id = 0;                   ///< FID of the file, opaque here
  std::uint64_t file_sequence = 0;             ///< part of the FID

  friend bool operator==(const Striping&, const Striping&) = default;
};

enum ComponentFlag : std::uint32_t {
  component_stale = 0x1,
  component_preferred_read = 0x2,
  component_preferred_write = 0x4,
  component_offline = 0x8,
  component_instantiated = 0x10,
  component_nosync = 0x20,
  component_extension = 0x40,
  component_parity = 0x80,
  component_compressed = 0x100,
  component_partial = 0x200,
  component_not_compressed = 0x400,
  component_negated = 0x80000000,
};

/// A component of a composite layout.
struct LayoutComponent {
  std::uint32_t id = 0;     ///< from 1 on; 0: none yet
  std::uint32_t flags = 0;  ///< ComponentFlag
  std::int64_t begin = 0;   ///< bytes of the file
  std::int64_t end = layout_end_of_file;
  Striping striping = {};
  std::uint32_t generation = 0;
  std::uint64_t timestamp = 0;  ///< when a mirror was last in sync, seconds; 48 bits
  /// Erasure coding: of parity, the mirror with its data; of data, the mirror with their parity.
  std::uint16_t linked_mirror = 0;
  std::uint8_t data_stripes = 0;    ///< of parity: the data stripes of a set
  std::uint8_t parity_stripes = 0;  ///< of parity: the parity stripes of a set
  std::uint16_t compression = 0;    ///< opaque here

  [[nodiscard]] bool is_instantiated() const { return (flags & component_instantiated) != 0; }
  [[nodiscard]] bool extends() const { return (flags & component_extension) != 0; }
  [[nodiscard]] bool is_parity() const {
    return (flags & component_parity) != 0 || striping.parity;
  }
  /// The number of the mirror, from 1 on; 0: no mirrors.
  [[nodiscard]] std::uint32_t mirror() const { return (id >> 16) & 0x7fff; }

  friend bool operator==(const LayoutComponent&, const LayoutComponent&) = default;
};

/// A layout without data on Lustre: a text for another program.
struct ForeignLayout {
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::string value = {};

  friend bool operator==(const ForeignLayout&, const ForeignLayout&) = default;
};

/// Foreign; or composite, with components in the order of their bytes, mirror by mirror; or plain,
/// with one component that is the whole file.
struct Layout {
  bool is_composite = false;
  std::uint32_t generation = 0;  ///< grows with each change; 0 if plain
  std::uint16_t flags = 0;
  std::int32_t mirror_count = 1;  ///< parity counts as a mirror
  std::uint8_t parity_component_count = 0;
  std::vector<LayoutComponent> components = {};
  std::optional<ForeignLayout> foreign = {};

  friend bool operator==(const Layout&, const Layout&) = default;
};

/// Whether the same bytes of the file are in several components: in mirrors, or as data and parity.
/// Nacre never changes such a layout, because its components would have to change together.
[[nodiscard]] inline bool is_redundant(const Layout& layout) {
  return layout.mirror_count > 1 ||
         std::ranges::any_of(layout.components, &LayoutComponent::is_parity);
}

[[nodiscard]] inline Layout plain_layout(Striping striping) {
  Layout layout;
  layout.components.push_back({.striping = std::move(striping)});
  return layout;
}

}  // namespace nacre::plan

#endif  // NACRE_PLAN_LAYOUT_LAYOUT_H_
