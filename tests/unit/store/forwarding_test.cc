// ForwardingStore and ForwardingFile forward every call of Store and StoreFile and return its
// result. So does FaultyStore for calls that the fault plan does not name.
#include "store/forwarding.h"

#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "testing/faults/faulty_store.h"

namespace nacre::store {
namespace {

using Calls = std::multiset<std::string>;

/// Each result differs from the default of Store and StoreFile.
Error answer(const std::string& call) { return {ErrorClass::quota, 42, call}; }

class RecordingLayouts final : public FileLayouts {
 public:
  explicit RecordingLayouts(std::shared_ptr<Calls> calls) : calls_(std::move(calls)) {}
  Result<std::optional<plan::Layout>> read() override { return record("layouts read"); }
  Status set(const plan::Layout&) override { return record("layouts set"); }
  Status add(const plan::Layout&) override { return record("layouts add"); }
  Status remove_unwritten() override { return record("layouts remove_unwritten"); }
  Status set_default() override { return record("layouts set_default"); }
  std::optional<plan::Layout> default_layout() override {
    static_cast<void>(record("layouts default_layout"));
    return std::nullopt;
  }
  Result<std::int32_t> target_count() override { return record("layouts target_count"); }
  bool means_no_layout(const Error&) const override { return false; }
  bool means_not_owner(const Error&) const override { return false; }

 private:
  Error record(const std::string& call) {
    calls_->insert(call);
    return answer(call);
  }
  std::shared_ptr<Calls> calls_;
};

/// Derives from StoreFile directly, so that this test does not compile without a new pure call.
class RecordingFile final : public StoreFile {
 public:
  explicit RecordingFile(std::shared_ptr<Calls> calls) : calls_(std::move(calls)) {}
  Transfer read(std::span<const ReadPiece>, std::int64_t offset) override {
    return {offset, record("read")};
  }
  Transfer write(std::span<const WritePiece>, std::int64_t offset) override {
    return {offset, record("write")};
  }
  Result<std::int64_t> size() override { return record("size"); }
  Status resize(std::int64_t) override { return record("resize"); }
  Status allocate(std::int64_t) override { return record("allocate"); }
  Status sync() override { return record("sync"); }
  Status close() override { return record("close"); }
  Result<std::unique_ptr<FileLock>> lock(const Extent&, LockKind) override {
    return record("lock");
  }
  Status check_locks() override { return record("check_locks"); }
  Result<std::unique_ptr<FileLock>> lock_group(std::int32_t) override {
    return record("lock_group");
  }
  Status narrow_locks() override { return record("narrow_locks"); }
  Status lock_ahead(std::span<const Extent> /*ranges*/) override { return record("lock_ahead"); }
  FileIdentity identity() override {
    record("identity");
    return {77};
  }
  FileSystemFacts facts() override {
    record("facts");
    FileSystemFacts facts;
    facts.row = 7;
    return facts;
  }
  FileLayouts* layouts() override {
    record("layouts");
    return &layouts_;
  }

 private:
  Error record(const std::string& call) {
    calls_->insert(call);
    return answer(call);
  }
  std::shared_ptr<Calls> calls_;
  RecordingLayouts layouts_{calls_};
};

class RecordingStore final : public Store {
 public:
  explicit RecordingStore(std::shared_ptr<Calls> calls) : calls_(std::move(calls)) {}
  Result<std::unique_ptr<StoreFile>> open(const std::string&, const OpenOptions&) override {
    record("open");
    return std::unique_ptr<StoreFile>(std::make_unique<RecordingFile>(calls_));
  }
  Status remove(const std::string&) override { return record("store remove"); }
  Result<std::unique_ptr<SharedCounter>> counter(const CounterKey&, bool) override {
    return record("counter");
  }
  Result<std::int32_t> target_count(const std::string&) override { return record("target_count"); }
  bool has_flash_targets(const std::string&) override {
    record("has_flash_targets");
    return true;
  }
  Status check_layout(const std::string&, const plan::Layout&) override {
    return record("check_layout");
  }
  void forget_counter(const CounterKey&) override { record("forget_counter"); }

 private:
  Error record(const std::string& call) {
    calls_->insert(call);
    return answer(call);
  }
  std::shared_ptr<Calls> calls_;
};

/// Forwards files too, as the classes that count or fail calls do.
class PlainForwarding final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<std::unique_ptr<StoreFile>> open(const std::string& path,
                                          const OpenOptions& options) override {
    Result<std::unique_ptr<StoreFile>> file = ForwardingStore::open(path, options);
    if (!file) return file;
    return std::unique_ptr<StoreFile>(std::make_unique<ForwardingFile>(*std::move(file)));
  }
};

template <class Outcome>
std::string message_of(const Outcome& outcome) {
  return outcome ? "success" : outcome.error().message;
}

void check_file_calls(StoreFile& file) {
  const Transfer read = file.read({}, 3);
  CHECK(read.bytes == 3);
  CHECK(read.error.value().message == "read");
  const Transfer written = file.write({}, 4);
  CHECK(written.bytes == 4);
  CHECK(written.error.value().message == "write");
  CHECK(message_of(file.size()) == "size");
  CHECK(message_of(file.resize(1)) == "resize");
  CHECK(message_of(file.allocate(1)) == "allocate");
  CHECK(message_of(file.sync()) == "sync");
  CHECK(message_of(file.lock({0, 1}, LockKind::shared)) == "lock");
  CHECK(message_of(file.check_locks()) == "check_locks");
  CHECK(message_of(file.lock_group(1)) == "lock_group");
  CHECK(message_of(file.narrow_locks()) == "narrow_locks");
  CHECK(message_of(file.lock_ahead({})) == "lock_ahead");
  CHECK(file.identity().inode == 77);
  CHECK(file.facts().row == 7);
  FileLayouts* const layouts = file.layouts();
  REQUIRE(layouts != nullptr);
  CHECK(message_of(layouts->read()) == "layouts read");
  CHECK(message_of(layouts->set({})) == "layouts set");
  CHECK(message_of(layouts->add({})) == "layouts add");
  CHECK(message_of(layouts->remove_unwritten()) == "layouts remove_unwritten");
  CHECK(message_of(layouts->set_default()) == "layouts set_default");
  CHECK_FALSE(layouts->default_layout());
  CHECK(message_of(layouts->target_count()) == "layouts target_count");
  CHECK(message_of(file.close()) == "close");
}

void check_all_calls(Store& store, const Calls& calls) {
  auto file = store.open("x", {});
  REQUIRE(file.ok());
  check_file_calls(**file);
  CHECK(message_of(store.remove("x")) == "store remove");
  CHECK(message_of(store.counter({}, true)) == "counter");
  CHECK(message_of(store.target_count("x")) == "target_count");
  CHECK(store.has_flash_targets("x"));
  CHECK(message_of(store.check_layout("x", {})) == "check_layout");
  store.forget_counter({});
  CHECK(calls == Calls{"open",
                       "read",
                       "write",
                       "size",
                       "resize",
                       "allocate",
                       "sync",
                       "lock",
                       "check_locks",
                       "lock_group",
                       "narrow_locks",
                       "lock_ahead",
                       "identity",
                       "facts",
                       "layouts",
                       "layouts read",
                       "layouts set",
                       "layouts add",
                       "layouts remove_unwritten",
                       "layouts set_default",
                       "layouts default_layout",
                       "layouts target_count",
                       "close",
                       "store remove",
                       "counter",
                       "target_count",
                       "has_flash_targets",
                       "check_layout",
                       "forget_counter"});
}

}  // namespace

TEST_CASE("a forwarding store forwards every call once") {
  const auto calls = std::make_shared<Calls>();
  PlainForwarding forwarding(std::make_shared<RecordingStore>(calls));
  check_all_calls(forwarding, *calls);
}

TEST_CASE("a faulty store forwards every call that its plan does not name once") {
  const auto calls = std::make_shared<Calls>();
  testing::FaultyStore faulty(std::make_shared<RecordingStore>(calls), testing::FaultPlan{}, 0);
  check_all_calls(faulty, *calls);
}

}  // namespace nacre::store
