// SharedPointer: the file pointer that all ranks of an open share, in etypes.
#ifndef NACRE_FILE_SHARED_POINTER_H_
#define NACRE_FILE_SHARED_POINTER_H_

#include <cstdint>
#include <memory>
#include <mutex>

#include "base/result.h"
#include "store/store.h"

namespace nacre::file {

/// The pointer is `base`, the same on all ranks, plus a counter that is made by whoever first moves
/// it: files whose shared pointer nobody moves have none. Thread-safe.
class SharedPointer {
 public:
  SharedPointer(store::Store& store, store::CounterKey key) : store_(store), key_(std::move(key)) {}

  /// Adds and returns the position before. ErrorClass::arg where that is beyond 64 bits.
  [[nodiscard]] Result<std::int64_t> fetch_add(std::int64_t etypes);
  [[nodiscard]] Result<std::int64_t> get();
  /// Collective in meaning: one rank resets the counter; once all have agreed on that, every rank
  /// sets its base.
  void set_base(std::int64_t etypes);
  [[nodiscard]] Status reset();

  /// This rank knows that there is a counter.
  [[nodiscard]] bool used();
  /// Takes the counter's name away. One rank, once no other will attach.
  void forget() { store_.forget_counter(key_); }

 private:
  /// The counter, or nullptr while nobody has made it. With mutex_ held, as the next.
  [[nodiscard]] Result<store::SharedCounter*> attached();
  /// The counter, made if need be.
  [[nodiscard]] Result<store::SharedCounter*> made();

  store::Store& store_;
  store::CounterKey key_;
  std::mutex mutex_;
  std::int64_t base_ = 0;
  std::unique_ptr<store::SharedCounter> counter_;
};

}  // namespace nacre::file

#endif  // NACRE_FILE_SHARED_POINTER_H_
