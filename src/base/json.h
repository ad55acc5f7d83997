// JSON as reports are written in: built by hand, since there is little of it.
#ifndef NACRE_BASE_JSON_H_
#define NACRE_BASE_JSON_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace nacre {

/// `text` as a JSON string, quotes included.
[[nodiscard]] std::string json_string(std::string_view text);

/// An object: members in the order in which they are added.
class JsonObject {
 public:
  /// `json` is a value as JSON.
  JsonObject& add(std::string_view name, std::string_view json) {
    if (!members_.empty()) members_ += ',';
    members_ += json_string(name);
    members_ += ':';
    members_ += json;
    return *this;
  }
  JsonObject& add_number(std::string_view name, std::int64_t number) {
    return add(name, std::to_string(number));
  }
  JsonObject& add_text(std::string_view name, std::string_view text) {
    return add(name, json_string(text));
  }
  [[nodiscard]] std::string text() const { return '{' + members_ + '}'; }

 private:
  std::string members_;
};

/// `make` gives each item as JSON.
template <class Items, class Make>
[[nodiscard]] std::string json_array(const Items& items, Make make) {
  std::string json = "[";
  for (const auto& item : items) {
    if (json.size() > 1) json += ',';
    json += make(item);
  }
  return json + ']';
}

}  // namespace nacre

#endif  // NACRE_BASE_JSON_H_
