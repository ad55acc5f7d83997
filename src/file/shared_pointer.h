// SharedPointer: the file pointer that all ranks of an open share, in etypes.
#ifndef NACRE_FILE_SHARED_POINTER_H_
#define NACRE_FILE_SHARED_POINTER_H_

#include <cstdint>
#include <memory>
#include <mutex>

#include "base/result.h"
#include "store/store.h"

namespace nacre::file {

/// The pointer is `base`, the same on all ranks, plus a counter. The first rank that moves the
/// pointer creates the counter. Thread-safe.
class SharedPointer {
 public:
  SharedPointer(store::Store& store, store::CounterKey key) : store_(store), key_(std::move(key)) {}

  /// Adds to the pointer and returns its former position. ErrorClass::arg if it exceeds 64 bits.
  [[nodiscard]] Result<std::int64_t> fetch_add(std::int64_t etypes);
  [[nodiscard]] Result<std::int64_t> get();
  /// For a collective change: one rank resets the counter; after the agreement each rank sets its
  /// base.
  void set_base(std::int64_t etypes);
  [[nodiscard]] Status reset();

  /// Whether this rank knows that the counter exists.
  [[nodiscard]] bool used();
  /// Removes the counter's name. Called by one rank, when no other will attach any more.
  void forget() { store_.forget_counter(key_); }

 private:
  [[nodiscard]] Result<std::int64_t> position_at(std::int64_t count) const;
  /// The counter, or nullptr if it does not exist yet. The caller holds mutex_.
  [[nodiscard]] Result<store::SharedCounter*> attached();
  /// The counter; creates it if it does not exist. The caller holds mutex_.
  [[nodiscard]] Result<store::SharedCounter*> created();

  store::Store& store_;
  store::CounterKey key_;
  std::mutex mutex_;
  std::int64_t base_ = 0;
  std::unique_ptr<store::SharedCounter> counter_;
};

}  // namespace nacre::file

#endif  // NACRE_FILE_SHARED_POINTER_H_
