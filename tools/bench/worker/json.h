#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nacre::bench {

/// One JSON object on one line, built member by member.
class JsonObject {
 public:
  JsonObject& add(std::string_view name, std::string_view text);
  JsonObject& add(std::string_view name, double number);
  JsonObject& add(std::string_view name, std::int64_t number);
  JsonObject& add(std::string_view name, bool value);
  JsonObject& add(std::string_view name, const JsonObject& object);
  JsonObject& add(std::string_view name, const std::vector<double>& numbers);
  JsonObject& add(std::string_view name, const std::vector<std::string>& texts);
  // Without this overload, a string literal would convert to bool.
  JsonObject& add(std::string_view name, const char* text) {
    return add(name, std::string_view(text));
  }

  [[nodiscard]] std::string text() const { return "{" + members_ + "}"; }
  /// Writes the line to standard output and flushes it, so that a job that is killed later keeps
  /// its measurements.
  void print() const;

 private:
  JsonObject& add_raw(std::string_view name, std::string_view value);

  std::string members_;
};

}  // namespace nacre::bench
