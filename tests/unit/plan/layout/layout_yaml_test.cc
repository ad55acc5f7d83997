// Compares the text of every captured layout with the output of `lfs getstripe -y`.
#include "plan/layout/layout_yaml.h"

#include <string>

#include <doctest/doctest.h>

#include "layout_samples.h"
#include "plan/layout/lov_codec.h"
#include "plan/layout/stripe_options.h"

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
  CHECK(text.find("lcme_flags:          init,stale,nosync\n    lcme_timestamp:      0\n") !=
        std::string::npos);
  CHECK(text.find("lmm_pattern:       raid0,overstriped,released\n") != std::string::npos);
  layout.components[0].flags = component_preferred_read | component_preferred_write | 0x800;
  layout.components[1].flags = component_instantiated | component_preferred_write;
  const std::string preferred = layout_yaml(layout);
  CHECK(preferred.find("lcme_flags:          prefer,0x800\n") != std::string::npos);
  CHECK(preferred.find("lcme_flags:          init,prefwr\n") != std::string::npos);
  layout.components[0].striping.stripe_count = stripes_on_all_osts;
  layout.components[1].striping.stripe_count = stripes_on_all_osts - 1;
  const std::string counts = layout_yaml(layout);
  CHECK(counts.find("lmm_stripe_count:  -1\n") != std::string::npos);
  CHECK(counts.find("lmm_stripe_count:  -2\n") != std::string::npos);
  Layout foreign;
  foreign.foreign = ForeignLayout{.value = "it's\nthere"};
  CHECK(layout_yaml(foreign) == "lfm_value:     'it''s.there'\n");
}

TEST_CASE("a stale mirror is init,stale") {
  Layout layout = *decode_lov(layout_sample("flr-two-mirrors").bytes);
  layout.components[1].flags |= component_stale;
  CHECK(layout_yaml(layout).find("lcme_mirror_id:      2\n    lcme_flags:          init,stale\n") !=
        std::string::npos);
}

TEST_CASE("parity has its counts and its mirror") {
  const std::string text = layout_yaml(*decode_lov(erasure_coded_sample()));
  CHECK(text.find("lcme_flags:          init\n    lcme_mirror_link_id: 0x2\n"
                  "    lcme_extent.e_start: 0\n") != std::string::npos);
  CHECK(text.find("lcme_flags:          init,parity\n    lcme_mirror_link_id: 0x1\n"
                  "    lcme_dstripe_count:  2\n    lcme_cstripe_count:  1\n") != std::string::npos);
  CHECK(text.find("lmm_pattern:       raid0,parity\n") != std::string::npos);
}

TEST_CASE("a default with components has keys without lmm_, and N/A for what it does not have") {
  Layout layout =
      parse_stripe_options("-E 64k -L mdt -E 1m -c 1 -S 1m -E -1 -c -1 -i 3 -p fast").value();
  layout.components[1].flags = component_preferred_read;
  CHECK(layout_yaml(layout) == R"(lcm_layout_gen:    0
lcm_mirror_count:  1
lcm_entry_count:   3
components:
  - lcme_id:             N/A
    lcme_mirror_id:      N/A
    lcme_flags:          0
    lcme_extent.e_start: 0
    lcme_extent.e_end:   65536
    sub_layout:
      stripe_count:  0
      stripe_size:   65536
      pattern:       mdt
      mdt_index:     -1
  - lcme_id:             N/A
    lcme_mirror_id:      N/A
    lcme_flags:          prefrd
    lcme_extent.e_start: 65536
    lcme_extent.e_end:   1048576
    sub_layout:
      stripe_count:  1
      stripe_size:   1048576
      pattern:       raid0
      stripe_offset: -1
  - lcme_id:             N/A
    lcme_mirror_id:      N/A
    lcme_flags:          0
    lcme_extent.e_start: 1048576
    lcme_extent.e_end:   EOF
    sub_layout:
      stripe_count:  -1
      stripe_size:   1048576
      pattern:       raid0
      stripe_offset: 3
      pool:          fast
)");
}

TEST_CASE("a default that lists OSTs prints them") {
  CHECK(layout_yaml(parse_stripe_options("-S 1m -o 2,0").value()) == R"(stripe_count:  2
stripe_size:   1048576
pattern:       raid0
stripe_offset: -1
lmm_objects:
      - l_ost_idx: 2
        l_fid:     0x100020000:0x0:0x0
      - l_ost_idx: 0
        l_fid:     0x100000000:0x0:0x0
)");
}

}  // namespace nacre::plan
