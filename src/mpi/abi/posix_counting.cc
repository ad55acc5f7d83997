// libnacre_posix.so, if the process has it, does not count what this library does: Nacre's own
// accesses are in its own reports.
#include <cstddef>

extern "C" {
__attribute__((weak)) void nacre_posix_leave_out(const void* begin, const void* end);
// Bounds of this library in memory; the linker defines them.
extern const std::byte __ehdr_start __attribute__((visibility("hidden")));  // NOLINT
extern const std::byte _end __attribute__((visibility("hidden")));          // NOLINT
}

namespace {

__attribute__((constructor)) void leave_out_this_library() {
  if (nacre_posix_leave_out != nullptr) nacre_posix_leave_out(&__ehdr_start, &_end);
}

}  // namespace
