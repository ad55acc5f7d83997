// The functions of the public header, nacre.h.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "base/hexadecimal.h"
#include "base/json.h"
#include "file/hints/hints.h"
#include "file/machine/find_machine.h"
#include "file/report/report.h"
#include "mpi/calls/served_calls.h"
#include "nacre/nacre.h"
#include "plan/layout/layout_choice.h"
#include "plan/layout/layout_codec.h"
#include "plan/layout/layout_growth.h"
#include "plan/layout/layout_yaml.h"
#include "plan/layout/lov_codec.h"
#include "plan/layout/stripe_options.h"
#include "store/default_store.h"
#include "store/file_system.h"

namespace nacre::mpi {
namespace {

std::atomic<std::uint64_t> served_call_count = 0;

std::size_t hand_out(const std::string& text, std::span<char> room) {
  if (room.empty()) return text.size() + 1;
  const std::size_t count = std::min(text.size(), room.size() - 1);
  std::copy_n(text.begin(), count, room.begin());
  room[count] = '\0';
  return text.size() + 1;
}

/// On failure writes the reason and returns 0.
std::size_t hand_out(const Result<std::string>& text, std::span<char> room) {
  if (text) return hand_out(*text, room);
  hand_out(text.error().message, room);
  return 0;
}

/// The file, or the nearest of its directories that exists.
std::string existing(const std::filesystem::path& path) {
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  return exists || path == path.parent_path() ? path.string() : existing(path.parent_path());
}

store::FileSystemFacts facts_of(const std::string& place) {
  store::FileSystemFacts facts = store::facts_of_path(place).value_or(store::FileSystemFacts());
  if (!file::depends_on_drives(facts, {})) return facts;
  std::error_code error;
  const std::filesystem::path inside = std::filesystem::path(place) / "file";
  const bool is_directory = std::filesystem::is_directory(place, error);
  facts.on_flash =
      store::default_store()->has_flash_targets(is_directory ? inside.string() : place);
  return facts;
}

/// With the machine file or class that would hold for the file; "none" if no plans would be
/// compared.
Result<std::string> hints_for(const char* path) {
  auto hints = file::resolve_hints(path, {});
  if (!hints) return std::move(hints).error();
  const std::string place = existing(path);
  const auto machine = file::find_machine({place, facts_of(place)}, *hints);
  if (!machine) return machine.error();
  const bool has_machine = machine->has_value();
  if (has_machine && !(*machine)->remark.empty()) hints->note((*machine)->remark);
  return JsonObject()
      .add("hints", file::set_hints_json(*hints))
      .add_text("machine", has_machine ? (*machine)->origin : "none")
      .add("notes", json_array(hints->notes(), &json_string))
      .text();
}

Result<std::string> yaml_of(std::span<const std::byte> lov) {
  const auto layout = plan::decode_layout(lov);
  if (!layout) return layout.error();
  return plan::layout_yaml(*layout);
}

Result<std::string> lov_of(const char* options, int osts) {
  const auto layout = plan::parse_stripe_options(options);
  if (!layout) return layout.error();
  const auto bytes = plan::encode_lov(plan::lov_request(*layout, [osts] { return osts; }));
  if (!bytes) return bytes.error();
  return hexadecimal(*bytes);
}

Result<std::string> rest_of(std::span<const std::byte> lov) {
  const auto layout = plan::decode_layout(lov);
  if (!layout) return layout.error();
  const std::int64_t end = plan::end_of(*layout);
  if (end != plan::layout_end_of_file && plan::is_redundant(*layout)) {
    return plan::layout_error("it ends at byte " + std::to_string(end) +
                              " and has mirrors or parity: Nacre does not change such a layout; "
                              "copy the file to a new one");
  }
  const plan::LayoutStep step = plan::step_to_complete(*layout);
  if (step.kind == plan::LayoutStep::Kind::none) return std::string();
  const auto bytes = plan::encode_lov(step.layout);
  if (!bytes) return bytes.error();
  return hexadecimal(*bytes);
}

/// `file` with the limits of the machine of `directory`, or of Lustre machines.
Result<plan::ExpectedFile> on_machine_of(const char* directory, const plan::ExpectedFile& file) {
  const std::string place = directory == nullptr ? "/" : existing(directory);
  store::FileSystemFacts facts = facts_of(place);
  if (!facts.has_layouts) {
    const auto striped = std::ranges::find_if(
        store::known_file_systems(),
        [](const store::FileSystem& one) { return one.has_layouts && !one.marker_attribute; });
    facts = store::facts_of_magic(striped->magic);
  }
  const auto hints = file::resolve_hints(place, {});
  if (!hints) return hints.error();
  const auto found = file::find_machine({place, facts}, *hints);
  if (!found) return found.error();
  return found->has_value() ? plan::on_machine(file, (*found)->machine) : file;
}

Result<std::string> advice_for(const char* directory, const plan::ExpectedFile& wanted) {
  const auto file = on_machine_of(directory, wanted);
  if (!file) return file.error();
  const auto choice = plan::choose_layout(*file);
  if (!choice) return choice.error();
  std::string text = choice->options() + '\n';
  for (const std::string& reason : choice->reasons) text += reason + '\n';
  return text;
}

}  // namespace

void count_served_call() { served_call_count.fetch_add(1, std::memory_order_relaxed); }

}  // namespace nacre::mpi

// In the global namespace, so that they have the visibility that nacre.h declares.
using namespace nacre::mpi;

extern "C" const char* nacre_version(void) { return NACRE_VERSION; }

extern "C" unsigned long long nacre_calls_served(void) {
  return served_call_count.load(std::memory_order_relaxed);
}

extern "C" const char* nacre_hints_json(void) {
  static const std::string* json = new std::string(nacre::file::hints_as_json());
  return json->c_str();
}

extern "C" size_t nacre_hints_for(const char* path, char* text, size_t text_size) {
  return hand_out(hints_for(path), {text, text_size});
}

extern "C" size_t nacre_layout_yaml(const void* lov, size_t size, char* text, size_t text_size) {
  return hand_out(yaml_of({static_cast<const std::byte*>(lov), size}), {text, text_size});
}

extern "C" size_t nacre_layout_lov(const char* options, int osts, char* text, size_t text_size) {
  return hand_out(lov_of(options, osts), {text, text_size});
}

extern "C" size_t nacre_layout_rest(const void* lov, size_t size, char* text, size_t text_size) {
  return hand_out(rest_of({static_cast<const std::byte*>(lov), size}), {text, text_size});
}

// NOLINTNEXTLINE(readability-function-size): the public interface is so
extern "C" size_t nacre_layout_advice(const char* directory, long long bytes, int nodes, int ranks,
                                      int osts, char* text, size_t text_size) {
  const nacre::plan::ExpectedFile file{
      .bytes = bytes, .nodes = nodes, .ranks = ranks, .osts = osts};
  return hand_out(advice_for(directory, file), {text, text_size});
}
