// Memory that several processes of a node share, and waiting for a change of a word in it.
#ifndef NACRE_STORE_MEMORY_SHARED_MEMORY_H_
#define NACRE_STORE_MEMORY_SHARED_MEMORY_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"

namespace nacre::store {

/// A random number, for ids that no other process uses.
[[nodiscard]] std::uint64_t random_id();

/// A mapping of a POSIX shared memory object, private to the user (mode 0600), initially zero. All
/// pages are allocated at creation: a full /dev/shm gives ErrorClass::no_space there instead of
/// SIGBUS later. More than 64 KiB are allocated only if they are at most a quarter of the free
/// space. The memory is freed when the last process unmaps it; forget() removes its name. Error
/// messages begin with `purpose` ("create the ...").
class SharedMemory {
 public:
  /// file_exists if another object of this user has the same `id`.
  [[nodiscard]] static Result<SharedMemory> create(std::uint64_t id, std::int64_t bytes,
                                                   const std::string& purpose);
  /// Lets the ranks of this process attach `bytes`, which are zeros and outlive all users.
  [[nodiscard]] static SharedMemory lend(std::uint64_t id, std::span<std::byte> bytes);
  /// Maps an object that create() made with the same size, or memory that lend() was given.
  [[nodiscard]] static Result<SharedMemory> attach(std::uint64_t id, std::int64_t bytes,
                                                   const std::string& purpose);
  /// Removes the name; existing mappings stay usable.
  static void forget(std::uint64_t id);
  /// The name of the object, e.g. "/nacre-1000-00c0ffee00c0ffee".
  [[nodiscard]] static std::string name(std::uint64_t id);

  /// Page-aligned. Ranks that are threads of one process see the same address.
  [[nodiscard]] std::span<std::byte> bytes() const { return mapping_->bytes(); }

 private:
  class Mapping {
   public:
    explicit Mapping(std::span<std::byte> bytes, bool is_lent = false)
        : bytes_(bytes), is_lent_(is_lent) {}
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping();
    [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

   private:
    std::span<std::byte> bytes_;
    bool is_lent_;  // not a mapping of its own
  };
  struct Known;
  static Known& known();
  explicit SharedMemory(std::shared_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}
  static Result<SharedMemory> map(std::uint64_t id, std::int64_t bytes, const std::string& purpose,
                                  bool create);
  static void note(std::uint64_t id, const std::shared_ptr<Mapping>& mapping);
  std::shared_ptr<Mapping> mapping_;
};

/// Sleeps while `word` is `value`, for `time_max` at most; may return early. `word` may be in
/// shared memory.
void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                 std::chrono::nanoseconds time_max);
/// Wakes all threads that sleep_while() on `word`.
void wake_sleepers(const std::atomic<std::uint32_t>& word);

}  // namespace nacre::store

#endif  // NACRE_STORE_MEMORY_SHARED_MEMORY_H_
