#include "file/machine/find_machine.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "store/file_system.h"
#include "store/system/directory.h"
#include "store/system/text_file.h"

namespace nacre::file {
namespace {

/// A machine file in one of the folders, over the class of a file system.
struct Entry {
  std::string path;
  machine::MachineFile file;
  std::optional<std::uint64_t> device = {};  ///< of its mount
};

Error machine_file_error(std::string message) {
  return Error{ErrorClass::info_value, 0, std::move(message)};
}

Result<std::string> text_of(const std::string& path) {
  Result<std::optional<std::string>> text = store::read_text_file(path);
  if (!text) return std::move(text).error();
  if (text->has_value()) return **std::move(text);
  std::string classes;
  for (const machine::ShippedMachine& one : machine::shipped_machines()) {
    classes += ", " + std::string(one.name);
  }
  return machine_file_error("nacre_machine = " + path +
                            ": there is no such file; it takes a machine file, none" + classes);
}

Result<machine::MachineFile> parsed(const std::string& text, const std::string& path,
                                    machine::MachineFile base) {
  base.name.clear();
  Status read = machine::read_machine(base, text, path);
  if (!read) return machine_file_error(std::move(read).error().message);
  return base;
}

Result<std::vector<Entry>> read_folder(const std::string& folder, const FoundMachine& by_class) {
  std::vector<Entry> entries;
  for (const std::string& path : store::files_in(folder, ".toml")) {
    Result<std::string> text = text_of(path);
    if (!text) return std::move(text).error();
    Result<machine::MachineFile> file = parsed(*text, path, {.machine = by_class.machine});
    if (!file) return std::move(file).error();
    const std::string& mount = file->mount;
    const auto device = mount.empty() ? std::nullopt : store::device_of(mount);
    entries.push_back({path, *std::move(file), device});
  }
  return entries;
}

/// The machine files of a folder over a class, read once per process.
const Result<std::vector<Entry>>& entries_of(const std::string& folder,
                                             const FoundMachine& by_class) {
  using Key = std::pair<std::string, std::string>;
  static std::mutex mutex;
  static std::map<Key, Result<std::vector<Entry>>> all;
  const std::lock_guard guard(mutex);
  const Key key{folder, by_class.origin};
  auto found = all.find(key);
  if (found == all.end()) found = all.emplace(key, read_folder(folder, by_class)).first;
  return found->second;
}

/// How well an entry fits: a mount before a kind of file system.
int fit_of(const Entry& entry, const std::string& kind, std::optional<std::uint64_t> device) {
  const machine::MachineFile& file = entry.file;
  if (!file.file_system.empty() && file.file_system != kind) return 0;
  if (!file.mount.empty()) return entry.device && entry.device == device ? 2 : 0;
  return file.file_system.empty() ? 0 : 1;
}

bool has_flash_class(const store::FileSystem* row) {
  return row != nullptr && *row->flash_machine != '\0';
}

FoundMachine class_of(const store::FileSystemFacts& facts) {
  const store::FileSystem* const row = store::file_system_of(facts);
  std::string name = row == nullptr ? "" : row->machine;
  if (facts.on_flash && has_flash_class(row)) name = row->flash_machine;
  if (name.empty()) name = facts.one_writer_per_node ? "local" : "remote";
  return {machine::shipped_machine(name), name};
}

/// That a machine file is not for the file of the query; "" if it is, or may be.
std::string mismatch_of(const machine::MachineFile& file, const std::string& path,
                        const MachineQuery& query) {
  const std::string kind = store::name_of(query.file_system);
  const std::string prefix = "machine file " + path + ": its figures are for ";
  if (!file.file_system.empty() && file.file_system != kind) {
    return prefix + file.file_system + ", and the file is on " + kind;
  }
  if (!file.mount.empty() && store::device_of(file.mount) != store::device_of(query.path)) {
    return prefix + "the mount " + file.mount + ", and the file is on another one";
  }
  return "";
}

/// The machine that the hint nacre_machine names.
Result<FoundMachine> named(const std::string& name, const FoundMachine& by_class,
                           const MachineQuery& query) {
  const auto is_named = [&](const machine::ShippedMachine& one) { return one.name == name; };
  if (std::ranges::any_of(machine::shipped_machines(), is_named)) {
    return FoundMachine{machine::shipped_machine(name), name};
  }
  const Result<std::string> text = text_of(name);
  if (!text) return text.error();
  Result<machine::MachineFile> file = parsed(*text, name, {.machine = by_class.machine});
  if (!file) return std::move(file).error();
  return FoundMachine{file->machine, name, mismatch_of(*file, name, query)};
}

}  // namespace

bool depends_on_drives(const store::FileSystemFacts& facts, const Hints& hints) {
  return hints.get("nacre_machine") != "none" && has_flash_class(store::file_system_of(facts));
}

std::vector<std::string> machine_folders(const Environment& environment) {
  std::vector<std::string> folders;
  if (const std::string folder = user_config_folder(environment); !folder.empty()) {
    folders.push_back(folder + "/machines");
  }
  folders.emplace_back("/etc/nacre/machines");
  return folders;
}

Result<std::optional<FoundMachine>> find_machine(const MachineQuery& query, const Hints& hints,
                                                 const Environment& environment) {
  FoundMachine by_class = class_of(query.file_system);
  const std::string name = hints.get("nacre_machine");
  if (name == "none") return std::optional<FoundMachine>();
  if (!name.empty() && name != "automatic") {
    Result<FoundMachine> found = named(name, by_class, query);
    if (!found) return std::move(found).error();
    return std::optional(*std::move(found));
  }
  const std::string kind = store::name_of(query.file_system);
  std::optional<std::uint64_t> device;
  for (const std::string& folder : machine_folders(environment)) {
    const Result<std::vector<Entry>>& entries = entries_of(folder, by_class);
    if (!entries) return entries.error();
    if (entries->empty()) continue;
    if (!device) device = store::device_of(query.path);
    const auto fit = [&](const Entry& entry) { return fit_of(entry, kind, device); };
    const auto best = std::ranges::max_element(*entries, {}, fit);
    if (fit(*best) == 0) continue;
    return std::optional(FoundMachine{best->file.machine, best->path});
  }
  return std::optional(std::move(by_class));
}

}  // namespace nacre::file
