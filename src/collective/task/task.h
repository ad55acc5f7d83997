// Task: a C++20 coroutine that waits for messages. The engine is written once, as sequential code
// with `co_await messages`. The caller that drives it either blocks (write_all) or polls
// (iwrite_all, split collectives).
//
// GCC 12 destroys some temporaries of a co_await expression twice or never (GCC bugs 99576,
// 100673). In `co_await f(...)` pass only named locals, references and trivial values.
#ifndef NACRE_COLLECTIVE_TASK_TASK_H_
#define NACRE_COLLECTIVE_TASK_TASK_H_

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "collective/task/transport.h"

namespace nacre::collective {

/// Observes where the time of an operation goes.
class Observer {
 public:
  virtual ~Observer() = default;
  /// The task begins to wait.
  virtual void wait_begins() = 0;
  virtual void wait_ends() = 0;
  /// The caller stops driving the operation, until a later call.
  virtual void progress_ends() = 0;
  virtual void progress_begins() = 0;
};

/// The state of one operation: a stack of coroutines, one of which runs at a time. A coroutine that
/// awaits another, or ends, stores the next coroutine here and returns to the operation's loop. The
/// machine's stack thus stays flat even if the compiler implements symmetric transfer by a call
/// (GCC without optimisation or with sanitizers).
struct Wait {
  Condition* condition = nullptr;  ///< must be ready before the coroutine resumes; null: none
  std::coroutine_handle<> resume;  ///< resumed next; null: the task has ended
  Observer* observer = nullptr;    ///< null: none
};

template <class T>
class Task;

namespace detail {

struct PromiseBase {
  Wait* wait = nullptr;  // of the operation; passed on at each co_await
  std::coroutine_handle<> continuation;

  struct FinalAwaiter {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) const noexcept {
      self.promise().wait->resume = self.promise().continuation;
    }
    void await_resume() const noexcept {}
  };
  std::suspend_always initial_suspend() const noexcept { return {}; }
  FinalAwaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { std::terminate(); }
};

}  // namespace detail

/// Suspends until all messages of the list are complete, then clears the list.
struct AllOf {
  std::vector<MessageId>& messages;
};

/// Suspends until `condition` is ready.
struct Until {
  Condition& condition;
};

/// Sets the observer of the operation; does not suspend. A task must set null before it destroys
/// its observer.
struct ObservedBy {
  Observer* observer;
};

/// A lazily started computation of a T. Move-only; awaited or driven once. Destroying it destroys
/// the whole chain of coroutines. Pending messages still point to its buffers, so destroy the
/// transport first or complete the messages.
template <class T>
class [[nodiscard]] Task {
 public:
  // NOLINTNEXTLINE(readability-identifier-naming): the language's name
  struct promise_type : detail::PromiseBase {
    std::optional<T> value;
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    void return_value(T result) { value.emplace(std::move(result)); }

    template <class U>
    auto await_transform(Task<U>& task) {
      return typename Task<U>::Awaiter{task.handle_, this->wait};
    }
    template <class U>
    auto await_transform(Task<U>&& task) {
      return typename Task<U>::Awaiter{task.handle_, this->wait};
    }
    auto await_transform(AllOf all) { return MessagesAwaiter(all.messages, this->wait); }
    auto await_transform(Until until) { return ConditionAwaiter{until.condition, this->wait}; }
    auto await_transform(ObservedBy observed) {
      this->wait->observer = observed.observer;
      return std::suspend_never{};
    }
  };

  struct Awaiter {
    std::coroutine_handle<promise_type> callee;
    Wait* wait;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> caller) const noexcept {
      callee.promise().wait = wait;
      callee.promise().continuation = caller;
      wait->resume = callee;
    }
    T await_resume() const { return std::move(*callee.promise().value); }
  };

  struct ConditionAwaiter {
    Condition& condition;
    Wait* wait;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> caller) const noexcept {
      wait->condition = &condition;
      wait->resume = caller;
    }
    void await_resume() const noexcept {}
  };

  class MessagesAwaiter final : public Condition {
   public:
    MessagesAwaiter(std::vector<MessageId>& messages, Wait* wait)
        : messages_(messages), wait_(wait) {}
    bool await_ready() const noexcept { return messages_.empty(); }
    void await_suspend(std::coroutine_handle<> caller) noexcept {
      wait_->condition = this;
      wait_->resume = caller;
    }
    void await_resume() const { messages_.clear(); }

    bool ready(Transport& transport) override { return transport.test(messages_); }
    [[nodiscard]] bool takes_all() const override { return true; }

   private:
    std::vector<MessageId>& messages_;
    Wait* wait_;
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;

  template <class U>
  friend class Task;
  template <class U>
  friend class Operation;
};

/// Drives a Task over a Transport. The owner calls advance() until done, or finish(). One thread at
/// a time.
template <class T>
class Operation {
 public:
  Operation(Task<T> task, Transport& transport) : task_(std::move(task)), transport_(transport) {
    task_.handle_.promise().wait = &wait_;
    wait_.resume = task_.handle_;
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  [[nodiscard]] bool done() const { return task_.handle_.done(); }
  /// Runs as far as completed messages allow; returns whether the task has ended. Does not wait for
  /// messages, but may access the file. `caller_waits`: the caller goes on until it has ended.
  bool advance(bool caller_waits = false) {
    if (wait_.observer != nullptr) wait_.observer->progress_begins();
    while (!done()) {
      if (wait_.condition != nullptr && !wait_.condition->ready(transport_)) {
        if (wait_.observer != nullptr && !caller_waits) wait_.observer->progress_ends();
        return false;
      }
      run_to_next_wait();
    }
    return true;
  }
  /// Runs to the end; blocks while it waits for messages.
  void finish() {
    if (wait_.observer != nullptr) wait_.observer->progress_begins();
    while (!done()) {
      if (wait_.condition != nullptr) transport_.wait(*wait_.condition);
      run_to_next_wait();
    }
  }
  /// The result of the task. Requires done().
  [[nodiscard]] T& value() { return *task_.handle_.promise().value; }

 private:
  void run_to_next_wait() {
    const bool stopped = wait_.condition != nullptr;
    if (stopped && wait_.observer != nullptr) wait_.observer->wait_ends();
    wait_.condition = nullptr;
    while (wait_.resume && wait_.condition == nullptr) {
      std::exchange(wait_.resume, nullptr).resume();
    }
    const bool wait_begins = wait_.condition != nullptr;
    if (wait_begins && wait_.observer != nullptr) wait_.observer->wait_begins();
  }
  Wait wait_;
  Task<T> task_;
  Transport& transport_;
};

/// Runs `task` to its end and returns its result.
template <class T>
[[nodiscard]] T run_to_end(Task<T> task, Transport& transport) {
  Operation<T> operation(std::move(task), transport);
  operation.finish();
  return std::move(operation.value());
}

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_TASK_TASK_H_
