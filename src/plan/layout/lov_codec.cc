// The records, with the offsets of their fields in bytes.
//
//   plain      0 magic 4, 4 pattern 4, 8 file id 8, 16 file sequence 8, 24 stripe size 4, 28 stripe
//              count 2, 30 first OST 2; V3 and SPECIFIC: 32 pool name 16; then objects
//   object     0 sequence 8, 8 object id 4, 12 version 4, 16 generation 4, 20 OST 4
//   composite  0 magic 4, 4 size 4, 8 generation 4, 12 flags 2, 14 components 2, 16 mirrors less
//   one 2,
//              18 nothing 14; then components; then a plain record of each
//   component  0 id 4, 4 flags 4, 8 begin 8, 16 end 8, 24 offset of its record 4, 28 size of it 4,
//              32 generation 4, 36 timestamp 8, 44 coding 4
//   foreign    0 magic 4, 4 length 4, 8 type 4, 12 flags 4; then the value
#include "plan/layout/lov_codec.h"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/checked_cast.h"
#include "base/hexadecimal.h"

namespace nacre::plan {
namespace {

constexpr std::uint32_t magic_v1 = 0x0bd10bd0;
constexpr std::uint32_t magic_v3 = 0x0bd30bd0;
constexpr std::uint32_t magic_specific = 0x0bd50bd0;
constexpr std::uint32_t magic_composite = 0x0bd60bd0;
constexpr std::uint32_t magic_foreign = 0x0bd70bd0;

constexpr std::uint32_t pattern_raid0 = 0x1;
constexpr std::uint32_t pattern_mdt = 0x100;
constexpr std::uint32_t pattern_overstriped = 0x200;
constexpr std::uint32_t pattern_released = 0x80000000;

constexpr std::size_t plain_bytes = 32;
constexpr std::size_t pool_bytes = 16;
constexpr std::size_t object_bytes = 24;
constexpr std::size_t composite_bytes = 32;
constexpr std::size_t component_bytes = 48;
constexpr std::size_t foreign_bytes = 16;

constexpr std::uint16_t no_first_ost = 0xffff;
constexpr std::uint64_t end_of_file = std::numeric_limits<std::uint64_t>::max();
/// Of what extends, the stripe size field counts these.
constexpr std::int64_t extension_unit = 1024;

using Bytes = std::span<const std::byte>;

/// Eight digits.
std::string hex(std::uint32_t number) { return "0x" + hexadecimal(number).substr(8); }

/// `offset` + sizeof(T) is no more than there is.
template <std::unsigned_integral T>
T get(Bytes bytes, std::size_t offset) {
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;) {
    value = static_cast<T>((std::uint64_t{value} << 8U) |
                           static_cast<std::uint64_t>(bytes[offset + i]));
  }
  return value;
}

class Writer {
 public:
  template <std::unsigned_integral T>
  void put(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes_.push_back(static_cast<std::byte>(std::uint64_t{value} >> (8 * i)));
    }
  }
  void put_text(std::string_view text, std::size_t bytes) {
    for (const char letter : text) bytes_.push_back(static_cast<std::byte>(letter));
    bytes_.resize(bytes_.size() + bytes - text.size());
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// ---- bytes to layout ----

std::string_view text_at(Bytes bytes) {
  // chars may be looked at as bytes, and bytes as chars.
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};  // NOLINT
}

Status read_pattern(std::uint32_t bits, Striping& striping) {
  striping.released = (bits & pattern_released) != 0;
  striping.overstriped = (bits & pattern_overstriped) != 0;
  const std::uint32_t kind = bits & ~(pattern_released | pattern_overstriped);
  striping.pattern = kind == pattern_mdt ? StripePattern::mdt : StripePattern::raid0;
  if (kind == pattern_mdt && !striping.overstriped) return {};
  if (kind == pattern_raid0 || kind == 0) return {};
  return layout_error("pattern " + hex(bits) + " is of a kind that this Nacre does not know");
}

OstObject object_at(Bytes bytes) {
  return {.sequence = get<std::uint64_t>(bytes, 0),
          .object_id = get<std::uint32_t>(bytes, 8),
          .version = get<std::uint32_t>(bytes, 12),
          .generation = get<std::uint32_t>(bytes, 16),
          .ost = static_cast<std::int32_t>(get<std::uint32_t>(bytes, 20))};
}

Status read_objects(Bytes bytes, Striping& striping) {
  const std::size_t count = bytes.size() / object_bytes;
  if (bytes.size() % object_bytes != 0) {
    return layout_error("its list of objects ends within one: it is truncated");
  }
  if (count != 0 && std::cmp_not_equal(count, striping.stripe_count)) {
    return layout_error("it says " + std::to_string(striping.stripe_count) + " stripes and has " +
                        std::to_string(count) + " objects");
  }
  for (std::size_t i = 0; i < count; ++i) {
    striping.objects.push_back(object_at(bytes.subspan(i * object_bytes, object_bytes)));
    if (striping.objects.back().ost < 0) {
      return layout_error("object " + std::to_string(i) + " lies on an OST of no number");
    }
  }
  return {};
}

Result<Striping> read_plain(Bytes bytes) {
  if (bytes.size() < plain_bytes) {
    return layout_error("a record of " + std::to_string(bytes.size()) + " bytes is truncated");
  }
  const auto magic = get<std::uint32_t>(bytes, 0);
  if (magic != magic_v1 && magic != magic_v3 && magic != magic_specific) {
    return layout_error("magic " + hex(magic) + " is of a kind that this Nacre does not know");
  }
  Striping striping;
  if (Status known = read_pattern(get<std::uint32_t>(bytes, 4), striping); !known) {
    return std::move(known).error();
  }
  striping.file_id = get<std::uint64_t>(bytes, 8);
  striping.file_sequence = get<std::uint64_t>(bytes, 16);
  striping.stripe_size = get<std::uint32_t>(bytes, 24);
  striping.stripe_count = get<std::uint16_t>(bytes, 28);
  const auto first = get<std::uint16_t>(bytes, 30);
  if (first != no_first_ost) striping.first_ost = first;
  Bytes objects = bytes.subspan(plain_bytes);
  if (magic != magic_v1) {
    if (objects.size() < pool_bytes) return layout_error("its pool's name is truncated");
    const std::string_view name = text_at(objects.first(pool_bytes));
    const std::size_t length = name.find('\0');
    if (length == std::string_view::npos) return layout_error("its pool's name does not end");
    striping.pool = name.substr(0, length);
    objects = objects.subspan(pool_bytes);
  }
  striping.lists_osts = magic == magic_specific;
  if (Status read = read_objects(objects, striping); !read) return std::move(read).error();
  return striping;
}

std::optional<std::int64_t> file_offset(std::uint64_t offset) {
  if (offset == end_of_file) return layout_end_of_file;
  if (!std::in_range<std::int64_t>(offset)) return std::nullopt;
  return static_cast<std::int64_t>(offset);
}

/// `entry`: in `all`, the whole composite record.
Result<LayoutComponent> read_component(Bytes all, Bytes entry) {
  LayoutComponent component;
  component.id = get<std::uint32_t>(entry, 0);
  component.flags = get<std::uint32_t>(entry, 4);
  component.generation = get<std::uint32_t>(entry, 32);
  component.timestamp = get<std::uint64_t>(entry, 36);
  component.coding = get<std::uint32_t>(entry, 44);
  const std::string name = "component " + std::to_string(component.id);
  const auto begin = file_offset(get<std::uint64_t>(entry, 8));
  const auto end = file_offset(get<std::uint64_t>(entry, 16));
  if (!begin || !end || *begin > *end) return layout_error(name + " ends before it begins");
  component.begin = *begin;
  component.end = *end;
  const std::size_t offset = get<std::uint32_t>(entry, 24);
  const std::size_t size = get<std::uint32_t>(entry, 28);
  if (offset > all.size() || size > all.size() - offset) {
    return layout_error(name + " lies behind the end: it is truncated");
  }
  Result<Striping> striping = read_plain(all.subspan(offset, size));
  if (!striping) return std::move(striping).error();
  component.striping = *std::move(striping);
  if (component.extends()) component.striping.stripe_size *= extension_unit;
  return component;
}

Result<Layout> read_composite(Bytes bytes) {
  if (bytes.size() < composite_bytes || get<std::uint32_t>(bytes, 4) != bytes.size()) {
    return layout_error("a composite one of " + std::to_string(bytes.size()) +
                        " bytes is not as long as it says: it is truncated");
  }
  const Bytes reserved = bytes.subspan(18, composite_bytes - 18);
  if (std::ranges::any_of(reserved, [](std::byte one) { return one != std::byte{0}; })) {
    return layout_error("a composite one with fields that this Nacre does not know");
  }
  Layout layout;
  layout.is_composite = true;
  layout.generation = get<std::uint32_t>(bytes, 8);
  layout.flags = get<std::uint16_t>(bytes, 12);
  layout.mirror_count = get<std::uint16_t>(bytes, 16) + 1;
  const std::size_t count = get<std::uint16_t>(bytes, 14);
  if (count > (bytes.size() - composite_bytes) / component_bytes) {
    return layout_error(std::to_string(count) + " components have no room in it: it is truncated");
  }
  std::size_t left = bytes.size() - composite_bytes - count * component_bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const Bytes entry = bytes.subspan(composite_bytes + i * component_bytes, component_bytes);
    // Each byte is of one component at most: a small text is no large layout.
    const std::size_t size = get<std::uint32_t>(entry, 28);
    if (size > left) return layout_error("its components are longer than it is: it is truncated");
    left -= size;
    Result<LayoutComponent> component = read_component(bytes, entry);
    if (!component) return std::move(component).error();
    layout.components.push_back(*std::move(component));
  }
  return layout;
}

Result<Layout> read_foreign(Bytes bytes) {
  if (bytes.size() < foreign_bytes ||
      get<std::uint32_t>(bytes, 4) != bytes.size() - foreign_bytes) {
    return layout_error("a foreign one is not as long as it says");
  }
  Layout layout;
  layout.foreign = ForeignLayout{.type = get<std::uint32_t>(bytes, 8),
                                 .flags = get<std::uint32_t>(bytes, 12),
                                 .value = std::string(text_at(bytes.subspan(foreign_bytes)))};
  return layout;
}

// ---- layout to bytes ----

template <std::unsigned_integral T>
Result<T> fitting(std::int64_t value, const char* what) {
  if (std::in_range<T>(value)) return static_cast<T>(value);
  return layout_error(std::string(what) + " " + std::to_string(value) + " is not from 0 to " +
                      std::to_string(std::numeric_limits<T>::max()));
}

std::uint32_t pattern_bits(const Striping& striping) {
  std::uint32_t bits = striping.pattern == StripePattern::mdt ? pattern_mdt : pattern_raid0;
  if (striping.overstriped) bits |= pattern_overstriped;
  if (striping.released) bits |= pattern_released;
  return bits;
}

std::uint32_t magic_of(const Striping& striping) {
  if (striping.lists_osts) return magic_specific;
  return striping.pool ? magic_v3 : magic_v1;
}

std::size_t size_of(const Striping& striping) {
  const std::size_t pool = magic_of(striping) == magic_v1 ? 0 : pool_bytes;
  return plain_bytes + pool + striping.objects.size() * object_bytes;
}

/// The size of stripes in the format's unit.
Result<std::uint32_t> size_field(const Striping& striping, bool extends) {
  if (extends && striping.stripe_size % extension_unit != 0) {
    return layout_error("an extension by " + std::to_string(striping.stripe_size) +
                        " bytes is no multiple of 1024");
  }
  return fitting<std::uint32_t>(striping.stripe_size / (extends ? extension_unit : 1),
                                "stripe size");
}

Status write_plain(Writer& writer, const Striping& striping, bool extends) {
  const Result<std::uint32_t> size = size_field(striping, extends);
  if (!size) return size.error();
  const Result<std::uint16_t> count = fitting<std::uint16_t>(striping.stripe_count, "stripe count");
  if (!count) return count.error();
  const Result<std::uint16_t> first =
      fitting<std::uint16_t>(striping.first_ost.value_or(no_first_ost), "first OST");
  if (!first) return first.error();
  const std::string pool = striping.pool.value_or("");
  if (pool.size() >= pool_bytes) {
    return layout_error("pool " + pool + " has more than " + std::to_string(pool_bytes - 1) +
                        " letters");
  }
  writer.put(magic_of(striping));
  writer.put(pattern_bits(striping));
  writer.put(striping.file_id);
  writer.put(striping.file_sequence);
  writer.put(*size);
  writer.put(*count);
  writer.put(*first);
  if (magic_of(striping) != magic_v1) writer.put_text(pool, pool_bytes);
  for (const OstObject& object : striping.objects) {
    writer.put(object.sequence);
    writer.put(object.object_id);
    writer.put(object.version);
    writer.put(object.generation);
    writer.put(static_cast<std::uint32_t>(object.ost));
  }
  return {};
}

std::uint64_t offset_field(std::int64_t offset) {
  return offset == layout_end_of_file ? end_of_file : static_cast<std::uint64_t>(offset);
}

void write_entry(Writer& writer, const LayoutComponent& component, std::size_t offset) {
  writer.put(component.id);
  writer.put(component.flags);
  writer.put(offset_field(component.begin));
  writer.put(offset_field(component.end));
  writer.put(checked_cast<std::uint32_t>(offset));
  writer.put(checked_cast<std::uint32_t>(size_of(component.striping)));
  writer.put(component.generation);
  writer.put(component.timestamp);
  writer.put(component.coding);
}

Status write_composite(Writer& writer, const Layout& layout) {
  const std::size_t first = composite_bytes + layout.components.size() * component_bytes;
  std::size_t size = first;
  for (const LayoutComponent& one : layout.components) size += size_of(one.striping);
  const Result<std::uint16_t> count =
      fitting<std::uint16_t>(std::ssize(layout.components), "number of components");
  if (!count) return count.error();
  writer.put(magic_composite);
  writer.put(checked_cast<std::uint32_t>(size));
  writer.put(layout.generation);
  writer.put(layout.flags);
  writer.put(*count);
  writer.put(static_cast<std::uint16_t>(layout.mirror_count - 1));
  writer.put_text("", composite_bytes - 18);
  std::size_t offset = first;
  for (const LayoutComponent& one : layout.components) {
    write_entry(writer, one, offset);
    offset += size_of(one.striping);
  }
  for (const LayoutComponent& one : layout.components) {
    if (Status written = write_plain(writer, one.striping, one.extends()); !written) {
      return written;
    }
  }
  return {};
}

void write_foreign(Writer& writer, const ForeignLayout& foreign) {
  writer.put(magic_foreign);
  writer.put(checked_cast<std::uint32_t>(foreign.value.size()));
  writer.put(foreign.type);
  writer.put(foreign.flags);
  writer.put_text(foreign.value, foreign.value.size());
}

}  // namespace

Result<Layout> decode_lov(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(std::uint32_t)) {
    return layout_error(std::to_string(bytes.size()) + " bytes are truncated");
  }
  switch (get<std::uint32_t>(bytes, 0)) {
    case magic_composite:
      return read_composite(bytes);
    case magic_foreign:
      return read_foreign(bytes);
    default: {
      Result<Striping> striping = read_plain(bytes);
      if (!striping) return std::move(striping).error();
      return plain_layout(*std::move(striping));
    }
  }
}

Result<std::vector<std::byte>> encode_lov(const Layout& layout) {
  Writer writer;
  Status written;
  if (layout.foreign) {
    write_foreign(writer, *layout.foreign);
  } else if (layout.is_composite) {
    written = write_composite(writer, layout);
  } else if (layout.components.size() == 1) {
    written = write_plain(writer, layout.components.front().striping, false);
  } else {
    written = layout_error("a plain one has one component");
  }
  if (!written) return std::move(written).error();
  return writer.take();
}

}  // namespace nacre::plan
