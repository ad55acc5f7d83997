// Layouts captured from a real Lustre (2.17): the bytes of the xattr and the output of
// `lfs getstripe -y`.
#ifndef NACRE_TESTS_UNIT_PLAN_LAYOUT_SAMPLES_H_
#define NACRE_TESTS_UNIT_PLAN_LAYOUT_SAMPLES_H_

#include <algorithm>
#include <cstddef>
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

}  // namespace nacre::plan

#endif  // NACRE_TESTS_UNIT_PLAN_LAYOUT_SAMPLES_H_
