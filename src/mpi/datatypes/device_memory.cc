#include "mpi/datatypes/device_memory.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include <dlfcn.h>
#include <link.h>

namespace nacre::mpi {
namespace {

/// cuPointerGetAttribute or hipPointerGetAttribute, which agree in signature and in the numbers
/// below. They return 0 for success, and an error for a pointer that the runtime does not know.
using GetAttribute = int (*)(void* data, int attribute, std::uintptr_t pointer);

constexpr int attribute_memory_type = 2;
constexpr int attribute_is_managed = 8;
constexpr unsigned memory_type_device = 2;

struct Runtime {
  const char* library;  ///< how its file's name begins
  const char* function;
  std::atomic<GetAttribute> get_attribute = nullptr;
};

std::array<Runtime, 2>& runtimes() {
  static std::array<Runtime, 2> all{Runtime{"libcuda.so", "cuPointerGetAttribute"},
                                    Runtime{"libamdhip64.so", "hipPointerGetAttribute"}};
  return all;
}

bool is_device_memory_of(GetAttribute get_attribute, std::uintptr_t pointer) {
  unsigned type = 0;
  if (get_attribute(&type, attribute_memory_type, pointer) != 0) return false;
  if (type != memory_type_device) return false;
  unsigned managed = 0;
  return get_attribute(&managed, attribute_is_managed, pointer) != 0 || managed == 0;
}

/// A search among the loaded objects. For an absent library, dlopen with RTLD_NOLOAD would search
/// the file system, with 50 system calls or more.
struct Loaded {
  std::string_view name_start;
  std::string path = {};  ///< empty: it is not loaded
};

int note_if_loaded(dl_phdr_info* info, std::size_t /*size*/, void* argument) {
  auto* const wanted = static_cast<Loaded*>(argument);
  const std::string_view path(info->dlpi_name);
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (!name.starts_with(wanted->name_start)) return 0;
  wanted->path = path;
  return 1;
}

/// Null if the program has not loaded the runtime: Nacre does not load it.
GetAttribute find_function(const Runtime& runtime) {
  Loaded loaded{runtime.library};
  dl_iterate_phdr(note_if_loaded, &loaded);
  if (loaded.path.empty()) return nullptr;
  void* const library = dlopen(loaded.path.c_str(), RTLD_NOLOAD | RTLD_LAZY);
  if (library == nullptr) return nullptr;
  return reinterpret_cast<GetAttribute>(dlsym(library, runtime.function));
}

/// How many libraries this process has loaded so far.
std::uint64_t library_load_count() {
  std::uint64_t count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        *static_cast<std::uint64_t*>(result) = info->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

}  // namespace

void find_device_runtimes() {
  static std::atomic<std::uint64_t> seen_load_count = 0;
  const std::uint64_t load_count = library_load_count();
  if (seen_load_count.exchange(load_count, std::memory_order_relaxed) == load_count) return;
  for (Runtime& runtime : runtimes()) {
    if (runtime.get_attribute.load(std::memory_order_relaxed) != nullptr) continue;
    runtime.get_attribute.store(find_function(runtime), std::memory_order_relaxed);
  }
}

bool is_device_memory(const void* buffer) {
  const auto pointer = reinterpret_cast<std::uintptr_t>(buffer);
  for (const Runtime& runtime : runtimes()) {
    const GetAttribute get_attribute = runtime.get_attribute.load(std::memory_order_relaxed);
    if (get_attribute != nullptr && is_device_memory_of(get_attribute, pointer)) return true;
  }
  return false;
}

}  // namespace nacre::mpi
