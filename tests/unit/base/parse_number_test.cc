// Numbers with units and decimals.
#include "base/parse_number.h"

#include <cstdint>
#include <optional>
#include <string_view>

#include <doctest/doctest.h>

namespace nacre {

TEST_CASE("numbers have units and decimals that make them whole") {
  const auto parsed = [](std::string_view text) { return parse_scaled_number<std::int64_t>(text); };
  CHECK(parsed("0") == 0);
  CHECK(parsed("-3k") == -3072);
  CHECK(parsed("64k") == 65536);
  CHECK(parsed("1.5g") == 1536LL << 20);
  CHECK(parsed("0.25M") == 256 << 10);
  CHECK(parsed("2.000t") == 2LL << 40);
  CHECK(parsed("1.999999t") == std::nullopt);
  CHECK(parsed("8388607.5t") == (std::int64_t{8388607} << 40) + (std::int64_t{1} << 39));
  CHECK(parsed("8388608t") == std::nullopt);
  for (const char* const wrong : {"", "k", "1.5", "1.", "1.k", ".5k", "1.-5k", "-1.5k", "1.5kk",
                                  "1.5 k", "1.3k", "1.0000000k", "99999999999999999999k"}) {
    CAPTURE(wrong);
    CHECK(parsed(wrong) == std::nullopt);
  }
  CHECK(parse_scaled_number<std::uint64_t>("1.5k") == 1536);
}

}  // namespace nacre
