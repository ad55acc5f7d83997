#include "store/lustre/lustre_targets.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "store/lustre/lustre_layout.h"
#include "store/system/descriptor.h"
#include "store/system/errno.h"

namespace nacre::store {
namespace {

/// The state of an OST (obd_statfs).
struct TargetState {
  std::uint64_t numbers[6] = {};  ///< type, blocks, free blocks, files
  std::uint8_t identity[40] = {};
  std::uint32_t sizes[2] = {};
  std::uint64_t longest_file = 0;
  std::uint32_t flags = 0;
  std::uint32_t others[9] = {};
};
static_assert(sizeof(TargetState) == 144);
static_assert(offsetof(TargetState, flags) == 104);
constexpr std::uint32_t does_not_rotate = 0x200;  // OS_STATFS_NONROT

/// The argument of IOC_OBD_STATFS: a header (obd_ioctl_data), whose texts follow it, each padded to
/// 8 bytes. The kernel requires that the address of each text is not null, and ignores it.
struct StateRequest {
  std::uint32_t length = sizeof(StateRequest);
  std::uint32_t version = 0x00010004;
  std::uint8_t objects[16 + 2 * 208] = {};  ///< unused
  std::uint64_t unused[5] = {};
  std::uint32_t state_length = sizeof(TargetState);
  std::uint32_t padding_1 = 0;
  TargetState* state = nullptr;
  std::uint32_t name_length = 0;
  std::uint32_t padding_2 = 0;
  void* name = nullptr;
  struct Text {
    std::uint64_t length = 0;
    const void* address = nullptr;
  };
  Text texts[4] = {};
  std::uint64_t kind = 0;
  std::uint64_t index = 0;
};
static_assert(offsetof(StateRequest, state) == 488);
static_assert(offsetof(StateRequest, texts) == 512);
static_assert(offsetof(StateRequest, kind) == 576);

constexpr unsigned get_target_state = _IOWR('f', 164, void*);  // IOC_OBD_STATFS
constexpr std::uint32_t of_ost = 2;                            // LL_STATFS_LOV
constexpr std::uint32_t at_once = 4;  // LL_STATFS_NODELAY: an OST that is down is an error

/// Nothing if the OST does not answer.
std::optional<bool> is_flash(int descriptor, std::int32_t ost) {
  TargetState state;
  std::array<char, 40> name{};  // obd_uuid
  StateRequest request;
  request.state = &state;
  request.name = name.data();
  request.name_length = name.size();
  request.texts[0] = {sizeof(std::uint32_t), &request.kind};
  request.texts[1] = {sizeof(std::uint32_t), &request.index};
  request.kind = of_ost | at_once;
  request.index = static_cast<std::uint32_t>(ost);
  const auto ask = [&] { return ::ioctl(descriptor, get_target_state, &request); };
  if (retry_interrupted(ask) != 0) return std::nullopt;
  return (state.flags & does_not_rotate) != 0;
}

/// Of the first OST that answers, from `first` on in steps of `step`.
std::optional<bool> is_one_flash(int descriptor, std::int32_t first, std::int32_t step) {
  constexpr std::int32_t asked_max = 8;  // an OST may be down
  std::optional<bool> answer;
  for (std::int32_t i = 0; i < asked_max && !answer && first + i * step >= 0; ++i) {
    answer = is_flash(descriptor, first + i * step);
  }
  return answer;
}

/// Nothing if not both ends answer.
std::optional<bool> are_first_and_last_flash(const std::string& directory) {
  const Descriptor opened = open_directory(directory);
  const Result<std::int32_t> count = ost_count(opened, directory);
  if (!count || *count < 1) return std::nullopt;
  const std::optional<bool> first = is_one_flash(opened.number(), 0, 1);
  if (!first || !*first) return first;
  return is_one_flash(opened.number(), *count - 1, -1);
}

}  // namespace

bool are_osts_flash(const std::string& directory) {
  struct statx about {};
  const int flags = AT_STATX_DONT_SYNC;  // the device is known without a request to a server
  if (::statx(AT_FDCWD, directory.c_str(), flags, STATX_TYPE, &about) != 0) return false;
  static std::mutex mutex;
  static std::map<std::pair<std::uint32_t, std::uint32_t>, bool> known;
  const std::pair device{about.stx_dev_major, about.stx_dev_minor};
  const std::lock_guard guard(mutex);
  if (const auto found = known.find(device); found != known.end()) return found->second;
  const std::optional<bool> answer = are_first_and_last_flash(directory);
  if (answer) known.emplace(device, *answer);
  return answer.value_or(false);
}

}  // namespace nacre::store
