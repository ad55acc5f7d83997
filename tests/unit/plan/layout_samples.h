// Layouts captured from a real Lustre (2.17): the bytes of the xattr and the output of
// `lfs getstripe -y`.
#ifndef NACRE_TESTS_UNIT_PLAN_LAYOUT_SAMPLES_H_
#define NACRE_TESTS_UNIT_PLAN_LAYOUT_SAMPLES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace nacre::plan {

struct LayoutSample {
  std::string name;
  std::vector<std::byte> bytes;
  std::string yaml;
};

inline std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline LayoutSample layout_sample(const std::string& name) {
  const std::filesystem::path folder = NACRE_TEST_DATA "/lustre-layouts";
  const std::string text = text_of_file(folder / (name + ".bin"));
  LayoutSample sample{name, {}, text_of_file(folder / (name + ".yaml"))};
  for (const char letter : text) sample.bytes.push_back(static_cast<std::byte>(letter));
  return sample;
}

/// All captured layouts, by name.
inline std::vector<LayoutSample> layout_samples() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(NACRE_TEST_DATA "/lustre-layouts")) {
    if (entry.path().extension() == ".bin") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  std::vector<LayoutSample> samples;
  for (const std::string& name : names) samples.push_back(layout_sample(name));
  return samples;
}

/// The bytes of integers, little-endian.
class RecordBytes {
 public:
  template <class Number>
  RecordBytes& add(Number number) {
    for (std::size_t i = 0; i < sizeof number; ++i) {
      bytes_.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(number) >> 8 * i));
    }
    return *this;
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// The layout of a file made with `lfs setstripe --ec 2+1`: not captured, but put together from the
/// declarations of lustre_user.h and a published output of `lfs getstripe -v` (2.17.58).
inline std::vector<std::byte> erasure_coded_sample() {
  using U8 = std::uint8_t;
  using U16 = std::uint16_t;
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  RecordBytes record;
  record.add(U32{0x0bd60bd0}).add(U32{264}).add(U32{2}).add(U16{1}).add(U16{2}).add(U16{1});
  record.add(U8{1}).add(U8{0}).add(U32{0}).add(U64{0});  // one component with parity
  const auto add_component = [&](U32 id, U32 flags, U32 offset, U32 size) -> RecordBytes& {
    record.add(id).add(flags).add(U64{0}).add(~U64{0}).add(offset).add(size);
    return record.add(U32{0});
  };
  add_component(65537, 0x10, 128, 80).add(U64{2} << 48).add(U32{0});
  add_component(131074, 0x90, 208, 56).add(U64{1} << 48).add(U8{2}).add(U8{1}).add(U16{0});
  const auto add_plain = [&](U32 pattern, U16 count) {
    record.add(U32{0x0bd10bd0}).add(pattern).add(U64{2}).add(U64{0x200000404});
    record.add(U32{4 << 20}).add(count).add(U16{0xffff});
  };
  const auto add_object = [&](U64 sequence, U32 number, U32 ost) {
    record.add(sequence).add(number).add(U32{0}).add(U32{0}).add(ost);
  };
  add_plain(0x1, 2);
  add_object(0x280000400, 2, 1);
  add_object(0x2c0000400, 2, 0);
  add_plain(0x5, 1);
  add_object(0x240000400, 3, 2);
  return record.bytes();
}

}  // namespace nacre::plan

#endif  // NACRE_TESTS_UNIT_PLAN_LAYOUT_SAMPLES_H_
