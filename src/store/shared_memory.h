// Memory that several processes of a node map, and words in it to wait on.
#ifndef NACRE_STORE_SHARED_MEMORY_H_
#define NACRE_STORE_SHARED_MEMORY_H_

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

/// A mapping of a POSIX shared memory object, private to the user (mode 0600). Zeros when made. All
/// of it is taken when it is made, so that a full /dev/shm is ErrorClass::no_space and no SIGBUS
/// later; more than 64 KiB are taken only where they are at most a quarter of what is free. It
/// lives until the last process has let go; its name only until forget().
class SharedMemory {
 public:
  /// `id` is one that no other object of this user has: else file_exists. Error messages begin with
  /// `purpose` ("make the ...").
  [[nodiscard]] static Result<SharedMemory> create(std::uint64_t id, std::int64_t bytes,
                                                   const std::string& purpose);
  /// Maps what create() made, of the same size.
  [[nodiscard]] static Result<SharedMemory> attach(std::uint64_t id, std::int64_t bytes,
                                                   const std::string& purpose);
  /// Takes the name away; those who have it mapped go on.
  static void forget(std::uint64_t id);
  /// The name of the object, e.g. "/nacre-1000-00c0ffee00c0ffee".
  [[nodiscard]] static std::string name(std::uint64_t id);

  /// Begins on a page. Ranks that are threads of one process have it at one address.
  [[nodiscard]] std::span<std::byte> bytes() const { return mapping_->bytes(); }

 private:
  class Mapping {
   public:
    explicit Mapping(std::span<std::byte> bytes) : bytes_(bytes) {}
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping();
    [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

   private:
    std::span<std::byte> bytes_;
  };
  struct Known;
  static Known& known();
  explicit SharedMemory(std::shared_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}
  static Result<SharedMemory> map(std::uint64_t id, std::int64_t bytes, const std::string& purpose,
                                  bool create);
  std::shared_ptr<Mapping> mapping_;
};

/// Sleeps while `word` is `value`, `time_max` at most; wakes up early now and then. `word` may lie
/// in memory that processes share.
void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                 std::chrono::nanoseconds time_max);
/// Wakes those who sleep_while() on `word`.
void wake_sleepers(const std::atomic<std::uint32_t>& word);

}  // namespace nacre::store

#endif  // NACRE_STORE_SHARED_MEMORY_H_
