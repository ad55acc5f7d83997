// What this library knows of the process's descriptors.
#ifndef NACRE_POSIX_CALLS_DESCRIPTORS_H_
#define NACRE_POSIX_CALLS_DESCRIPTORS_H_

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "posix/system/system.h"

namespace nacre::posix {

/// An open descriptor of a file of the job. All zero: of something else.
struct Descriptor {
  std::uint16_t file = 0;      ///< number in CountedFiles; 0: not counted
  std::uint16_t buffered = 0;  ///< number in Buffering; 0: not there
  bool can_read = false;
  bool can_write = false;
  bool is_append = false;  ///< opened with O_APPEND
  bool is_stream = false;  ///< belongs to a stream of stdio

  [[nodiscard]] bool is_known() const { return file != 0 || buffered != 0 || is_stream; }
};
static_assert(sizeof(Descriptor) == sizeof(std::uint64_t));

/// Descriptors from 0 to capacity - 1; those above are unknown. Constant-initialised; threads may
/// call every function at any time.
class Descriptors {
 public:
  static constexpr int capacity = 1 << 16;

  [[nodiscard]] Descriptor get(int descriptor) const {
    auto* const slot = slot_of(descriptor);
    if (slot == nullptr) return {};
    return std::bit_cast<Descriptor>(slot->load(std::memory_order_acquire));
  }
  /// What is known of a descriptor that was opened. Returns what was known before.
  Descriptor set(int descriptor, Descriptor known) {
    if (known.is_known()) allocate();
    auto* const slot = slot_of(descriptor);
    if (slot == nullptr) return {};
    return std::bit_cast<Descriptor>(slot->exchange(std::bit_cast<std::uint64_t>(known)));
  }
  /// Returns what was known, and forgets it.
  Descriptor take(int descriptor) { return set(descriptor, {}); }

 private:
  using Slot = std::atomic<std::uint64_t>;

  [[nodiscard]] Slot* slot_of(int descriptor) const {
    Slot* const slots = slots_.load(std::memory_order_acquire);
    if (slots == nullptr || descriptor < 0 || descriptor >= capacity) return nullptr;
    return &slots[descriptor];
  }
  void allocate() {
    if (slots_.load(std::memory_order_acquire) != nullptr) return;
    constexpr std::size_t bytes = capacity * sizeof(Slot);
    auto* const made = reinterpret_cast<Slot*>(map_memory(bytes));
    Slot* before = nullptr;
    if (made != nullptr && !slots_.compare_exchange_strong(before, made))
      unmap_memory(reinterpret_cast<std::byte*>(made), bytes);
  }

  std::atomic<Slot*> slots_ = nullptr;
};

}  // namespace nacre::posix

#endif  // NACRE_POSIX_CALLS_DESCRIPTORS_H_
