// The JSON of reports.
#include "base/json.h"

#include <vector>

#include <doctest/doctest.h>

namespace nacre {

TEST_CASE("JSON strings are escaped") {
  CHECK(json_string("a\"b\\c\n\x01") == "\"a\\\"b\\\\c\\u000a\\u0001\"");
  CHECK(json_string("höhe") == "\"höhe\"");
}

TEST_CASE("objects keep the order of their members and can be nested") {
  const std::string inner = JsonObject().add_number("n", -1).text();
  CHECK(JsonObject().add_text("b", "x").add("a", inner).text() == R"({"b":"x","a":{"n":-1}})");
  CHECK(JsonObject().text() == "{}");
}

TEST_CASE("arrays") {
  const auto number = [](int value) { return std::to_string(value); };
  CHECK(json_array(std::vector<int>{1, 2, 3}, number) == "[1,2,3]");
  CHECK(json_array(std::vector<int>{}, number) == "[]");
}

}  // namespace nacre
