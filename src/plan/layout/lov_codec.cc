#include "plan/layout/lov_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/checked_cast.h"
#include "base/hexadecimal.h"
#include "plan/layout/stripe_map.h"

namespace nacre::plan {
namespace {

static_assert(std::endian::native == std::endian::little, "the records are little-endian");

using Bytes = std::span<const std::byte>;
using Output = std::vector<std::byte>;

/// V1. V3 and SPECIFIC continue with the name of the pool. Then the objects follow.
struct PlainRecord {
  std::uint32_t magic;
  std::uint32_t pattern;
  std::uint64_t file_id;
  std::uint64_t file_sequence;
  std::uint32_t stripe_size;  ///< in units of extension_unit in a component that extends
  std::uint16_t stripe_count;
  std::uint16_t first_ost;
};
using PoolName = std::array<char, 16>;
static_assert(sizeof(OstObject) == 24, "an object has no gaps: OstObject is its record");

/// Then ComponentRecords follow, then the plain record of each.
struct CompositeRecord {
  std::uint32_t magic;
  std::uint32_t size;
  std::uint32_t generation;
  std::uint16_t flags;
  std::uint16_t component_count;
  std::uint16_t mirrors_but_one;
  std::uint8_t parity_component_count;
  std::array<std::byte, 13> reserved;
};
struct [[gnu::packed]] ComponentRecord {
  std::uint32_t id;
  std::uint32_t flags;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint32_t offset;  ///< of its plain record in the composite one
  std::uint32_t size;
  std::uint32_t generation;
  std::uint64_t time_and_link;  ///< 48 bits of time, then the linked mirror
  std::uint8_t data_stripes;
  std::uint8_t parity_stripes;
  std::uint16_t compression;
};
/// Then the value follows.
struct ForeignRecord {
  std::uint32_t magic;
  std::uint32_t size;
  std::uint32_t type;
  std::uint32_t flags;
};
static_assert(sizeof(PlainRecord) == 32 && sizeof(CompositeRecord) == 32 &&
              sizeof(ComponentRecord) == 48 && sizeof(ForeignRecord) == 16);

constexpr std::uint32_t magic_v1 = 0x0bd10bd0;
constexpr std::uint32_t magic_v3 = 0x0bd30bd0;
constexpr std::uint32_t magic_specific = 0x0bd50bd0;
constexpr std::uint32_t magic_composite = 0x0bd60bd0;
constexpr std::uint32_t magic_foreign = 0x0bd70bd0;

constexpr std::uint32_t pattern_raid0 = 0x1;
constexpr std::uint32_t pattern_parity = 0x4;
constexpr std::uint32_t pattern_mdt = 0x100;
constexpr std::uint32_t pattern_overstriped = 0x200;
constexpr std::uint32_t pattern_released = 0x80000000;

constexpr unsigned time_bits = 48;
constexpr std::uint64_t time_mask = (std::uint64_t{1} << time_bits) - 1;
constexpr std::uint16_t no_first_ost = 0xffff;
constexpr std::uint64_t end_of_file = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t extension_unit = 1024;

/// Eight digits.
std::string hex(std::uint32_t number) { return "0x" + hexadecimal(number).substr(8); }

std::string_view text_of(Bytes bytes) {
  // chars may be looked at as bytes, and bytes as chars.
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};  // NOLINT
}

/// The record that `bytes` begin with. They are long enough.
template <class Record>
Record read(Bytes bytes) {
  static_assert(std::is_trivially_copyable_v<Record>);
  Record record;
  std::memcpy(&record, bytes.data(), sizeof record);
  return record;
}

template <class Record>
void append(Output& out, const Record& record) {
  const auto bytes = std::as_bytes(std::span(&record, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// ---- bytes to layout ----

Status read_pattern(std::uint32_t bits, Striping& striping) {
  striping.released = (bits & pattern_released) != 0;
  striping.overstriped = (bits & pattern_overstriped) != 0;
  striping.parity = (bits & pattern_parity) != 0;
  const std::uint32_t kind = bits & ~(pattern_released | pattern_overstriped | pattern_parity);
  striping.pattern = kind == pattern_mdt ? StripePattern::mdt : StripePattern::raid0;
  if (kind == pattern_mdt && !striping.overstriped && !striping.parity) return {};
  if (kind == pattern_raid0 || kind == 0) return {};
  return layout_error("this version of Nacre does not know pattern " + hex(bits));
}

Status read_objects(Bytes bytes, Striping& striping) {
  const std::size_t count = bytes.size() / sizeof(OstObject);
  if (bytes.size() % sizeof(OstObject) != 0) {
    return layout_error("truncated: the list of objects ends inside an object");
  }
  if (count != 0 && std::cmp_not_equal(count, striping.stripe_count)) {
    return layout_error("the stripe count is " + std::to_string(striping.stripe_count) +
                        ", but there are " + std::to_string(count) + " objects");
  }
  striping.objects.resize(count);
  if (count > 0) std::memcpy(striping.objects.data(), bytes.data(), bytes.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (striping.objects[i].ost < 0) {
      return layout_error("object " + std::to_string(i) + " has the invalid OST number " +
                          std::to_string(striping.objects[i].ost));
    }
  }
  return {};
}

Result<Striping> read_plain(Bytes bytes) {
  if (bytes.size() < sizeof(PlainRecord)) {
    return layout_error("truncated: a record has only " + std::to_string(bytes.size()) + " bytes");
  }
  const auto record = read<PlainRecord>(bytes);
  if (record.magic != magic_v1 && record.magic != magic_v3 && record.magic != magic_specific) {
    return layout_error("this version of Nacre does not know magic " + hex(record.magic));
  }
  Striping striping{.stripe_size = record.stripe_size,
                    .stripe_count = record.stripe_count,
                    .lists_osts = record.magic == magic_specific,
                    .file_id = record.file_id,
                    .file_sequence = record.file_sequence};
  if (Status known = read_pattern(record.pattern, striping); !known) {
    return std::move(known).error();
  }
  if (record.first_ost != no_first_ost) striping.first_ost = record.first_ost;
  Bytes objects = bytes.subspan(sizeof record);
  if (record.magic != magic_v1) {
    if (objects.size() < sizeof(PoolName)) return layout_error("truncated in the name of the pool");
    const std::string_view name = text_of(objects.first(sizeof(PoolName)));
    const std::size_t length = name.find('\0');
    if (length == std::string_view::npos) {
      return layout_error("the name of the pool has no end: \"" + std::string(name) + '"');
    }
    striping.pool = name.substr(0, length);
    objects = objects.subspan(sizeof(PoolName));
  }
  if (Status read = read_objects(objects, striping); !read) return std::move(read).error();
  return striping;
}

std::optional<std::int64_t> file_offset(std::uint64_t offset) {
  if (offset == end_of_file) return layout_end_of_file;
  if (!std::in_range<std::int64_t>(offset)) return std::nullopt;
  return static_cast<std::int64_t>(offset);
}

/// `all` is the whole composite record.
Result<LayoutComponent> read_component(Bytes all, const ComponentRecord& record) {
  const std::string name = "component " + std::to_string(record.id);
  const auto begin = file_offset(record.begin);
  const auto end = file_offset(record.end);
  if (!begin || !end || *begin > *end) return layout_error(name + " ends before it begins");
  if (record.offset > all.size() || record.size > all.size() - record.offset) {
    return layout_error("truncated: the record of " + name + " ends behind the layout");
  }
  Result<Striping> striping = read_plain(all.subspan(record.offset, record.size));
  if (!striping) return std::move(striping).error();
  LayoutComponent component{
      .id = record.id,
      .flags = record.flags,
      .begin = *begin,
      .end = *end,
      .striping = *std::move(striping),
      .generation = record.generation,
      .timestamp = record.time_and_link & time_mask,
      .linked_mirror = static_cast<std::uint16_t>(record.time_and_link >> time_bits),
      .data_stripes = record.data_stripes,
      .parity_stripes = record.parity_stripes,
      .compression = record.compression};
  if (component.extends()) component.striping.stripe_size *= extension_unit;
  return component;
}

Result<Layout> read_composite(Bytes bytes) {
  constexpr std::size_t head_bytes = sizeof(CompositeRecord);
  if (bytes.size() < head_bytes || read<CompositeRecord>(bytes).size != bytes.size()) {
    return layout_error("truncated: a composite layout has " + std::to_string(bytes.size()) +
                        " bytes and declares another size");
  }
  const auto record = read<CompositeRecord>(bytes);
  if (record.reserved != decltype(record.reserved){}) {
    return layout_error("this version of Nacre does not know all fields of the composite layout");
  }
  Layout layout{.is_composite = true,
                .generation = record.generation,
                .flags = record.flags,
                .mirror_count = record.mirrors_but_one + 1,
                .parity_component_count = record.parity_component_count};
  const std::size_t count = record.component_count;
  if (count > (bytes.size() - head_bytes) / sizeof(ComponentRecord)) {
    return layout_error("truncated: " + std::to_string(count) + " components do not fit " +
                        std::to_string(bytes.size()) + " bytes");
  }
  std::size_t left = bytes.size() - head_bytes - count * sizeof(ComponentRecord);
  for (std::size_t i = 0; i < count; ++i) {
    const auto entry =
        read<ComponentRecord>(bytes.subspan(head_bytes + i * sizeof(ComponentRecord)));
    // Each byte belongs to one component at most, so that few bytes are no large layout.
    if (entry.size > left) {
      return layout_error("truncated: the records of its components do not fit " +
                          std::to_string(bytes.size()) + " bytes");
    }
    left -= entry.size;
    Result<LayoutComponent> component = read_component(bytes, entry);
    if (!component) return std::move(component).error();
    layout.components.push_back(*std::move(component));
  }
  return layout;
}

Result<Layout> read_foreign(Bytes bytes) {
  constexpr std::size_t head_bytes = sizeof(ForeignRecord);
  if (bytes.size() < head_bytes || read<ForeignRecord>(bytes).size != bytes.size() - head_bytes) {
    return layout_error("a foreign layout has " + std::to_string(bytes.size()) +
                        " bytes and declares another size");
  }
  const auto record = read<ForeignRecord>(bytes);
  return Layout{.foreign = ForeignLayout{.type = record.type,
                                         .flags = record.flags,
                                         .value = std::string(text_of(bytes.subspan(head_bytes)))}};
}

// ---- layout to bytes ----

template <std::unsigned_integral T>
Result<T> fitting(std::int64_t value, const char* what) {
  if (std::in_range<T>(value)) return static_cast<T>(value);
  return layout_error(std::string(what) + " " + std::to_string(value) +
                      " is invalid; the format takes 0 to " +
                      std::to_string(std::numeric_limits<T>::max()));
}

std::uint32_t pattern_bits(const Striping& striping) {
  std::uint32_t bits = striping.pattern == StripePattern::mdt ? pattern_mdt : pattern_raid0;
  if (striping.overstriped) bits |= pattern_overstriped;
  if (striping.released) bits |= pattern_released;
  if (striping.parity) bits |= pattern_parity;
  return bits;
}

std::uint32_t magic_of(const Striping& striping) {
  if (striping.lists_osts) return magic_specific;
  return striping.pool ? magic_v3 : magic_v1;
}

Status append_plain(Output& out, const Striping& striping, bool extends) {
  const std::int64_t unit = extends ? extension_unit : 1;
  if (striping.stripe_size % unit != 0) {
    return layout_error("an extension of " + std::to_string(striping.stripe_size) +
                        " bytes is not a multiple of 1024 bytes");
  }
  const auto size = fitting<std::uint32_t>(striping.stripe_size / unit, "stripe size");
  const auto count = fitting<std::uint16_t>(striping.stripe_count, "stripe count");
  const auto first = fitting<std::uint16_t>(striping.first_ost.value_or(no_first_ost), "first OST");
  if (!size) return size.error();
  if (!count) return count.error();
  if (!first) return first.error();
  const std::string pool = striping.pool.value_or("");
  PoolName pool_name{};
  if (pool.size() >= pool_name.size()) {
    return layout_error("the name of pool \"" + pool + "\" has more than " +
                        std::to_string(pool_name.size() - 1) + " letters");
  }
  std::ranges::copy(pool, pool_name.begin());
  const std::uint32_t magic = magic_of(striping);
  append(out, PlainRecord{.magic = magic,
                          .pattern = pattern_bits(striping),
                          .file_id = striping.file_id,
                          .file_sequence = striping.file_sequence,
                          .stripe_size = *size,
                          .stripe_count = *count,
                          .first_ost = *first});
  if (magic != magic_v1) append(out, pool_name);
  for (const OstObject& object : striping.objects) append(out, object);
  return {};
}

std::uint64_t offset_field(std::int64_t offset) {
  return offset == layout_end_of_file ? end_of_file : static_cast<std::uint64_t>(offset);
}

std::uint64_t time_and_link_of(const LayoutComponent& component) {
  return (component.timestamp & time_mask) | static_cast<std::uint64_t>(component.linked_mirror)
                                                 << time_bits;
}

Status append_composite(Output& out, const Layout& layout) {
  const auto count = fitting<std::uint16_t>(std::ssize(layout.components), "number of components");
  if (!count) return count.error();
  const std::size_t first = sizeof(CompositeRecord) + *count * sizeof(ComponentRecord);
  Output entries;
  Output plains;
  for (const LayoutComponent& one : layout.components) {
    const std::size_t before = plains.size();
    if (Status written = append_plain(plains, one.striping, one.extends()); !written) {
      return written;
    }
    append(entries, ComponentRecord{.id = one.id,
                                    .flags = one.flags,
                                    .begin = offset_field(one.begin),
                                    .end = offset_field(one.end),
                                    .offset = checked_cast<std::uint32_t>(first + before),
                                    .size = checked_cast<std::uint32_t>(plains.size() - before),
                                    .generation = one.generation,
                                    .time_and_link = time_and_link_of(one),
                                    .data_stripes = one.data_stripes,
                                    .parity_stripes = one.parity_stripes,
                                    .compression = one.compression});
  }
  append(out,
         CompositeRecord{.magic = magic_composite,
                         .size = checked_cast<std::uint32_t>(first + plains.size()),
                         .generation = layout.generation,
                         .flags = layout.flags,
                         .component_count = *count,
                         .mirrors_but_one = static_cast<std::uint16_t>(layout.mirror_count - 1),
                         .parity_component_count = layout.parity_component_count,
                         .reserved = {}});
  out.insert(out.end(), entries.begin(), entries.end());
  out.insert(out.end(), plains.begin(), plains.end());
  return {};
}

void append_foreign(Output& out, const ForeignLayout& foreign) {
  append(out, ForeignRecord{.magic = magic_foreign,
                            .size = checked_cast<std::uint32_t>(foreign.value.size()),
                            .type = foreign.type,
                            .flags = foreign.flags});
  const auto value = std::as_bytes(std::span(foreign.value));
  out.insert(out.end(), value.begin(), value.end());
}

}  // namespace

Result<Layout> decode_lov(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(std::uint32_t)) {
    return layout_error("truncated: it has only " + std::to_string(bytes.size()) + " bytes");
  }
  const auto magic = read<std::uint32_t>(bytes);
  if (magic == magic_composite) return read_composite(bytes);
  if (magic == magic_foreign) return read_foreign(bytes);
  Result<Striping> striping = read_plain(bytes);
  if (!striping) return std::move(striping).error();
  return plain_layout(*std::move(striping));
}

Result<std::vector<std::byte>> encode_lov(const Layout& layout) {
  Output bytes;
  Status written;
  if (layout.foreign) {
    append_foreign(bytes, *layout.foreign);
  } else if (layout.is_composite) {
    written = append_composite(bytes, layout);
  } else if (layout.components.size() == 1) {
    written = append_plain(bytes, layout.components.front().striping, false);
  } else {
    written = layout_error("a plain layout has " + std::to_string(layout.components.size()) +
                           " components, not one");
  }
  if (!written) return std::move(written).error();
  return bytes;
}

Layout lov_request(Layout layout, const std::function<Result<std::int32_t>()>& ost_count) {
  for (LayoutComponent& component : layout.components) {
    Striping& striping = component.striping;
    if (striping.overstriped && stands_for_osts(striping.stripe_count)) {
      if (const auto total = ost_count())
        striping.stripe_count = stripe_count_over(striping, *total);
    }
    if (striping.first_ost == 0) layout.is_composite = true;
  }
  return layout;
}

}  // namespace nacre::plan
