// The functions that the program would call without this library.
#ifndef NACRE_POSIX_SYSTEM_NEXT_H_
#define NACRE_POSIX_SYSTEM_NEXT_H_

#include <atomic>

#include <dlfcn.h>

namespace nacre::posix {

template <class Signature>
class Next;

/// The next definition of a function after this library: that of the C library, or of another
/// library that interposes it. Found at the first call, from any thread and before constructors
/// have run. Constant-initialised.
template <class Value, class... Arguments>
class Next<Value(Arguments...)> {
 public:
  using Function = Value (*)(Arguments...);

  constexpr explicit Next(const char* name) : name_(name) {}

  Value operator()(Arguments... arguments) { return get()(arguments...); }
  /// Null if no library defines it: older C libraries lack some functions.
  [[nodiscard]] Function get() {
    Function found = function_.load(std::memory_order_relaxed);
    if (found != nullptr) return found;
    found = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name_));
    function_.store(found, std::memory_order_relaxed);
    return found;
  }

 private:
  const char* name_;
  std::atomic<Function> function_ = nullptr;
};

}  // namespace nacre::posix

#endif  // NACRE_POSIX_SYSTEM_NEXT_H_
