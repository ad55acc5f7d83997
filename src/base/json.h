// JSON for reports. They are small, so that no JSON library is needed.
#ifndef NACRE_BASE_JSON_H_
#define NACRE_BASE_JSON_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace nacre {

/// `text` as a JSON string, quotes included.
[[nodiscard]] std::string json_string(std::string_view text);

/// A JSON object. Members keep the order in which they are added.
class JsonObject {
 public:
  /// `json` is the member's value, as JSON.
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

/// A JSON array. `make(item)` returns an item as JSON.
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
