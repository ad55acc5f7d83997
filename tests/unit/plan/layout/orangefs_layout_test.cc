// decode_orangefs_layout: the bytes of xattrs on OrangeFS 2.10.
#include "plan/layout/orangefs_layout.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace nacre::plan {
namespace {

using Bytes = std::vector<std::byte>;

template <class Number>
void append(Bytes& bytes, Number number) {
  const std::size_t end = bytes.size();
  bytes.resize(end + sizeof number);
  std::memcpy(bytes.data() + end, &number, sizeof number);
}

Bytes distribution(std::string_view name, std::int64_t strip_size) {
  Bytes bytes;
  append(bytes, static_cast<std::uint32_t>(name.size()));
  for (const char letter : name) append(bytes, letter);
  do append(bytes, '\0');
  while (bytes.size() % 8 != 0);
  append(bytes, strip_size);
  return bytes;
}

Bytes handles(std::size_t count) { return Bytes(count * 8, std::byte{7}); }

std::string refusal(const Bytes& of, const Bytes& files) {
  return decode_orangefs_layout(of, files).error().message;
}

}  // namespace

TEST_CASE("stripes lie on the data files in turn") {
  const Layout layout =
      decode_orangefs_layout(distribution("simple_stripe", 65536), handles(4)).value();
  REQUIRE(layout.components.size() == 1);
  const Striping& striping = layout.components.front().striping;
  CHECK(striping.stripe_size == 65536);
  CHECK(striping.stripe_count == 4);
  REQUIRE(striping.objects.size() == 4);
  CHECK(striping.objects[3].ost == 3);
}

TEST_CASE("basic_dist has one data file with bytes") {
  const Layout layout = decode_orangefs_layout(distribution("basic_dist", 0), handles(4)).value();
  CHECK(layout.components.front().striping.stripe_count == 1);
}

TEST_CASE("what Nacre cannot follow is refused with its reason") {
  CHECK(refusal(distribution("varstrip_dist", 0), handles(4)).find("varstrip_dist") !=
        std::string::npos);
  CHECK(refusal(distribution("simple_stripe", 0), handles(4)).find("strip_size 0") !=
        std::string::npos);
  CHECK(refusal(distribution("simple_stripe", 65536), handles(0)).find("0 bytes are not") !=
        std::string::npos);
  CHECK(refusal(distribution("simple_stripe", 65536), Bytes(12)).find("12 bytes are not") !=
        std::string::npos);
}

TEST_CASE("truncated distributions are refused") {
  const Bytes whole = distribution("simple_stripe", 65536);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_FALSE(decode_orangefs_layout(part, handles(4)));
  }
}

}  // namespace nacre::plan
