#include "json.h"

#include <array>
#include <cstdio>

namespace nacre::bench {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += ' ';
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string number_text(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", number);
  return text.data();
}

}  // namespace

JsonObject& JsonObject::add_raw(std::string_view name, std::string_view value) {
  if (!members_.empty()) members_ += ", ";
  members_ += quoted(name);
  members_ += ": ";
  members_ += value;
  return *this;
}

JsonObject& JsonObject::add(std::string_view name, std::string_view text) {
  return add_raw(name, quoted(text));
}

JsonObject& JsonObject::add(std::string_view name, double number) {
  return add_raw(name, number_text(number));
}

JsonObject& JsonObject::add(std::string_view name, std::int64_t number) {
  return add_raw(name, std::to_string(number));
}

JsonObject& JsonObject::add(std::string_view name, bool value) {
  return add_raw(name, value ? "true" : "false");
}

JsonObject& JsonObject::add(std::string_view name, const JsonObject& object) {
  return add_raw(name, object.text());
}

JsonObject& JsonObject::add(std::string_view name, const std::vector<double>& numbers) {
  std::string list;
  for (const double number : numbers) list += (list.empty() ? "" : ", ") + number_text(number);
  return add_raw(name, "[" + list + "]");
}

JsonObject& JsonObject::add(std::string_view name, const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + quoted(text);
  return add_raw(name, "[" + list + "]");
}

void JsonObject::print() const {
  std::printf("%s\n", text().c_str());
  std::fflush(stdout);
}

}  // namespace nacre::bench
