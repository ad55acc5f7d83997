// nacre_layout_yaml of the public header.
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "nacre/nacre.h"
#include "plan/layout_yaml.h"
#include "plan/lov_codec.h"

namespace {

std::size_t hand_out(const std::string& text, std::span<char> room) {
  if (room.empty()) return text.size() + 1;
  const std::size_t count = std::min(text.size(), room.size() - 1);
  std::copy_n(text.begin(), count, room.begin());
  room[count] = '\0';
  return text.size() + 1;
}

}  // namespace

extern "C" size_t nacre_layout_yaml(const void* lov, size_t size, char* text, size_t text_size) {
  const std::span bytes(static_cast<const std::byte*>(lov), size);
  const std::span room(text, text_size);
  const auto layout = nacre::plan::decode_lov(bytes);
  if (layout) return hand_out(nacre::plan::layout_yaml(*layout), room);
  hand_out(layout.error().message, room);
  return 0;
}
