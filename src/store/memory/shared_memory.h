// Memory that several processes of a node share, and waiting for a change of a word in it.
#ifndef NACRE_STORE_MEMORY_SHARED_MEMORY_H_
#define NACRE_STORE_MEMORY_SHARED_MEMORY_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "store/system/descriptor.h"

namespace nacre::store {

/// A random number, for ids that no other process uses.
[[nodiscard]] std::uint64_t random_id();

/// Where the processes of a node find shared memory, until SharedMemory::forget().
struct SharedMemoryAddress {
  std::uint64_t id = 0;
  std::int32_t process = 0;      ///< number of the process that created unnamed memory
  std::int32_t descriptor = -1;  ///< of that process; -1: the memory has a name
};

/// A mapping of memory that processes of one user on one node share, initially zero. The memory is
/// freed when the last process unmaps it. Error messages begin with `purpose` ("create the ...").
class SharedMemory {
 public:
  enum class Kind : std::uint8_t {
    /// Pages are allocated at the first access, on the NUMA node of the process that accesses them.
    /// More than 64 KiB are mapped only if they are at most a quarter of the available memory.
    /// Processes find the memory only in the same PID namespace.
    unnamed,
    /// A POSIX shared memory object with mode 0600. All pages are allocated at creation: a full
    /// /dev/shm gives ErrorClass::no_space there instead of SIGBUS later. More than 64 KiB are
    /// allocated only if they are at most a quarter of the free space.
    named,
  };
  /// `id`: random_id(). file_exists if another named object of this user has the same one.
  [[nodiscard]] static Result<SharedMemory> create(Kind kind, std::uint64_t id, std::int64_t bytes,
                                                   const std::string& purpose);
  /// Lets the ranks of this process attach `bytes`, which are zeros and outlive all users.
  [[nodiscard]] static SharedMemory lend(std::uint64_t id, std::span<std::byte> bytes);
  /// Maps memory that create() made with the same size, or memory that lend() was given.
  [[nodiscard]] static Result<SharedMemory> attach(const SharedMemoryAddress& address,
                                                   std::int64_t bytes, const std::string& purpose);
  /// No process can attach the memory any more; existing mappings stay usable. Only the creator may
  /// call this for memory without a name.
  static void forget(std::uint64_t id);
  /// The name of a named object, e.g. "/nacre-1000-00c0ffee00c0ffee".
  [[nodiscard]] static std::string name(std::uint64_t id);

  /// Page-aligned. Ranks that are threads of one process see the same address.
  [[nodiscard]] std::span<std::byte> bytes() const { return mapping_->bytes(); }
  /// For attach(). For the creator, until forget().
  [[nodiscard]] SharedMemoryAddress address() const;

 private:
  class Mapping {
   public:
    Mapping(std::uint64_t id, std::span<std::byte> bytes, bool is_lent)
        : id_(id), bytes_(bytes), is_lent_(is_lent) {}
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping();
    [[nodiscard]] std::uint64_t id() const { return id_; }
    [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
    /// Through which other processes attach unnamed memory; only in its creator.
    [[nodiscard]] const Descriptor& object() const { return object_; }
    void keep(Descriptor object) { object_ = std::move(object); }

   private:
    std::uint64_t id_;
    std::span<std::byte> bytes_;
    Descriptor object_;
    bool is_lent_;  // not a mapping of its own
  };
  struct Known;
  static Known& known();
  explicit SharedMemory(std::shared_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}
  static Result<SharedMemory> create_named(std::uint64_t id, std::int64_t bytes,
                                           const std::string& purpose);
  static Result<SharedMemory> create_unnamed(std::uint64_t id, std::int64_t bytes,
                                             const std::string& purpose);
  static std::optional<SharedMemory> map(std::uint64_t id, const Descriptor& object,
                                         std::int64_t bytes);
  static void note(const std::shared_ptr<Mapping>& mapping);
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
