#include "sim/time/fiber.h"

#include <cstdint>
#include <utility>

#include <ucontext.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NACRE_FIBERS_UNDER_ASAN
#endif
#if __has_feature(thread_sanitizer)
#define NACRE_FIBERS_UNDER_TSAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define NACRE_FIBERS_UNDER_ASAN
#endif
#if defined(__SANITIZE_THREAD__)
#define NACRE_FIBERS_UNDER_TSAN
#endif
#if defined(NACRE_FIBERS_UNDER_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(NACRE_FIBERS_UNDER_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace nacre::sim {
namespace {

/// Informs the sanitizers of a switch to another stack.
class StackSwitch {
 public:
  struct Stack {
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    void* fake = nullptr;          ///< AddressSanitizer's, while the stack is left
    void* thread_state = nullptr;  ///< ThreadSanitizer's
  };

  /// `last`: `from` is left for good.
  static void begin([[maybe_unused]] Stack& from, [[maybe_unused]] const Stack& to,
                    [[maybe_unused]] bool last) {
#if defined(NACRE_FIBERS_UNDER_ASAN)
    __sanitizer_start_switch_fiber(last ? nullptr : &from.fake, to.bottom, to.bytes);
#endif
#if defined(NACRE_FIBERS_UNDER_TSAN)
    from.thread_state = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(to.thread_state, 0);
#endif
  }
  /// On the stack `to`. Notes the bounds of the stack that was left.
  static void end([[maybe_unused]] Stack& left, [[maybe_unused]] const Stack& to) {
#if defined(NACRE_FIBERS_UNDER_ASAN)
    __sanitizer_finish_switch_fiber(to.fake, &left.bottom, &left.bytes);
#endif
  }
};

}  // namespace

struct Fiber::Context {
  ucontext_t caller{};
  ucontext_t fiber{};
  std::unique_ptr<std::byte[]> stack;  // not cleared: its pages are allocated at their first use
  StackSwitch::Stack of_caller;
  StackSwitch::Stack of_fiber;
};

Fiber::Fiber(std::function<void()> body, std::size_t stack_bytes)
    : body_(std::move(body)), context_(std::make_unique<Context>()) {
  context_->stack = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
  context_->of_fiber.bottom = context_->stack.get();
  context_->of_fiber.bytes = stack_bytes;
#if defined(NACRE_FIBERS_UNDER_TSAN)
  context_->of_fiber.thread_state = __tsan_create_fiber(0);
#endif
  getcontext(&context_->fiber);
  context_->fiber.uc_stack.ss_sp = context_->stack.get();
  context_->fiber.uc_stack.ss_size = stack_bytes;
  context_->fiber.uc_link = nullptr;
  // makecontext() passes ints only.
  const auto address = reinterpret_cast<std::uintptr_t>(this);
  constexpr unsigned half_bits = 32;
  using Entry = void (*)();
  void (*const entry)(unsigned, unsigned) = [](unsigned high, unsigned low) {
    const std::uintptr_t self = std::uintptr_t{high} << half_bits | low;
    reinterpret_cast<Fiber*>(self)->run();  // NOLINT(performance-no-int-to-ptr)
  };
  makecontext(&context_->fiber, reinterpret_cast<Entry>(entry), 2,
              static_cast<unsigned>(address >> half_bits), static_cast<unsigned>(address));
}

Fiber::~Fiber() {
#if defined(NACRE_FIBERS_UNDER_TSAN)
  __tsan_destroy_fiber(context_->of_fiber.thread_state);
#endif
}

void Fiber::run() {
  StackSwitch::end(context_->of_caller, context_->of_fiber);
  body_();
  body_ = nullptr;
  has_ended_ = true;
  StackSwitch::begin(context_->of_fiber, context_->of_caller, true);
  setcontext(&context_->caller);
}

void Fiber::resume() {
  StackSwitch::begin(context_->of_caller, context_->of_fiber, false);
  swapcontext(&context_->caller, &context_->fiber);
  StackSwitch::end(context_->of_fiber, context_->of_caller);
  if (has_ended_) context_->stack.reset();
}

void Fiber::suspend() {
  StackSwitch::begin(context_->of_fiber, context_->of_caller, false);
  swapcontext(&context_->fiber, &context_->caller);
  StackSwitch::end(context_->of_caller, context_->of_fiber);
}

}  // namespace nacre::sim
