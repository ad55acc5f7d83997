// Task and Operation: coroutines nest, move, complete and are destroyed midway without a leak, and
// the stack does not grow. Also run with AddressSanitizer.
#include "collective/task/task.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "testing/in_process.h"

namespace nacre::collective {
namespace {

/// Counts its live objects, so that tests can check their destruction.
class Tracked {
 public:
  explicit Tracked(int& live) : live_(&live) { ++*live_; }
  Tracked(const Tracked& other) : live_(other.live_) { ++*live_; }
  Tracked& operator=(const Tracked&) = delete;
  ~Tracked() { --*live_; }

 private:
  int* live_;
};

Task<int> answer() { co_return 42; }

Task<int> sum_of_answers(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += co_await answer();
  co_return sum;
}

Task<std::string> nested(int depth, std::string text) {
  if (depth == 0) co_return text;
  std::string longer = text + "x";
  Task<std::string> inner = nested(depth - 1, std::move(longer));
  std::string result = co_await inner;
  co_return result;
}

Task<int> receive_one(Transport& transport, Tracked tracked) {
  int value = 0;
  std::vector<MessageId> messages;
  messages.push_back(transport.receive(1, std::as_writable_bytes(std::span(&value, 1))));
  co_await AllOf{messages};
  static_cast<void>(tracked);
  co_return value;
}

Task<int> wrapped_receive(Transport& transport, Tracked tracked) {
  const Tracked here(tracked);
  Task<int> inner = receive_one(transport, tracked);
  const int value = co_await inner;
  co_return value + 1;
}

Task<std::unique_ptr<int>> move_only() { co_return std::make_unique<int>(7); }

Task<std::unique_ptr<int>> pass_move_only() {
  std::unique_ptr<int> value = co_await move_only();
  co_return value;
}

}  // namespace

TEST_CASE("a task that never suspends completes in one step") {
  testing::InProcessNetwork network({});
  Operation<int> operation(answer(), network.transport(0));
  CHECK_FALSE(operation.done());
  CHECK(operation.advance());
  CHECK(operation.value() == 42);
  CHECK(operation.advance());
  operation.finish();
  CHECK(operation.value() == 42);
}

TEST_CASE("a loop of a million awaits that complete at once does not deepen the stack") {
  testing::InProcessNetwork network({});
  Operation<int> operation(sum_of_answers(1'000'000), network.transport(0));
  operation.finish();
  CHECK(operation.value() == 42'000'000);
}

TEST_CASE("a chain of twenty thousand nested tasks returns its value") {
  testing::InProcessNetwork network({});
  Operation<std::string> operation(nested(20'000, ""), network.transport(0));
  operation.finish();
  CHECK(operation.value().size() == 20'000);
}

TEST_CASE("a task can return a move-only result") {
  testing::InProcessNetwork network({});
  Operation<std::unique_ptr<int>> operation(pass_move_only(), network.transport(0));
  operation.finish();
  CHECK(*operation.value() == 7);
}

TEST_CASE("a task that was never started destroys its arguments once") {
  int live = 0;
  {
    testing::InProcessNetwork network({2});
    const Tracked tracked(live);
    const Task<int> task = wrapped_receive(network.transport(0), tracked);
    CHECK(live == 2);
  }
  CHECK(live == 0);
}

TEST_CASE("a chain destroyed while it waits destroys every frame once") {
  int live = 0;
  {
    testing::InProcessNetwork network({2});
    const Tracked tracked(live);
    Operation<int> operation(wrapped_receive(network.transport(0), tracked), network.transport(0));
    CHECK_FALSE(operation.advance());
    CHECK(live > 2);
  }
  CHECK(live == 0);
}

TEST_CASE("a chain resumes where it waited when the message arrives") {
  int live = 0;
  {
    testing::InProcessNetwork network({2});
    const Tracked tracked(live);
    Operation<int> operation(wrapped_receive(network.transport(0), tracked), network.transport(0));
    CHECK_FALSE(operation.advance());
    CHECK_FALSE(operation.advance());
    const int value = 5;
    std::vector<MessageId> sent{network.transport(1).send(0, std::as_bytes(std::span(&value, 1)))};
    CHECK(operation.advance());
    CHECK(operation.value() == 6);
    CHECK(network.transport(1).test(sent));
  }
  CHECK(live == 0);
}

TEST_CASE("tasks can be moved before they start, and assigned over each other") {
  testing::InProcessNetwork network({});
  Task<int> first = answer();
  Task<int> second = sum_of_answers(2);
  first = std::move(second);
  std::vector<Task<int>> tasks;
  tasks.push_back(std::move(first));
  tasks.push_back(answer());
  Operation<int> operation(std::move(tasks.front()), network.transport(0));
  operation.finish();
  CHECK(operation.value() == 84);
}

}  // namespace nacre::collective
