// Compares the text of every captured layout with the output of `lfs getstripe -y`.
#include "plan/layout/layout_yaml.h"

#include <string>

#include <doctest/doctest.h>

#include "layout_samples.h"
#include "plan/layout/lov_codec.h"

namespace nacre::plan {
namespace {

/// The output of lfs, without empty lines at the end. If a directory has no stripe size, lfs
/// printed the default of the file system.
std::string expected(const LayoutSample& sample) {
  std::string text = sample.yaml;
  while (text.ends_with("\n\n")) text.pop_back();
  if (sample.name != "dir-default-pool") return text;
  const std::string size = "4194304";
  const std::size_t place = text.find(size);
  return text.substr(0, place) + '0' + text.substr(place + size.size());
}

}  // namespace

TEST_CASE("every captured layout reads as lfs getstripe -y wrote it") {
  for (const LayoutSample& sample : layout_samples()) {
    CAPTURE(sample.name);
    const Result<Layout> layout = decode_lov(sample.bytes);
    REQUIRE(layout.ok());
    CHECK(layout_yaml(*layout) == expected(sample));
  }
}

TEST_CASE("flags and patterns have names; a foreign value is printed on one line") {
  Layout layout = *decode_lov(layout_sample("flr-two-mirrors").bytes);
  layout.components[0].flags = component_stale | component_instantiated | component_nosync;
  layout.components[1].striping.overstriped = true;
  layout.components[1].striping.released = true;
  const std::string text = layout_yaml(layout);
  CHECK(text.find("lcme_flags:          stale,init,nosync\n") != std::string::npos);
  CHECK(text.find("lmm_pattern:       raid0,overstriped,released\n") != std::string::npos);
  layout.components[0].striping.stripe_count = stripes_on_all_osts;
  layout.components[1].striping.stripe_count = stripes_on_all_osts - 1;
  const std::string counts = layout_yaml(layout);
  CHECK(counts.find("lmm_stripe_count:  -1\n") != std::string::npos);
  CHECK(counts.find("lmm_stripe_count:  -2\n") != std::string::npos);
  Layout foreign;
  foreign.foreign = ForeignLayout{.value = "it's\nthere"};
  CHECK(layout_yaml(foreign) == "lfm_value:     'it''s.there'\n");
}

}  // namespace nacre::plan
