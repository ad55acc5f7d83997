#include "world.h"

#include <span>
#include <utility>

#include "store/forwarding.h"
#include "testing/faults/faulty_store.h"

namespace nacre::file::fixtures {
namespace {

class WatchedFile final : public store::ForwardingFile {
 public:
  WatchedFile(std::unique_ptr<store::StoreFile> inner, std::shared_ptr<WatchedStore::Watch> watch)
      : ForwardingFile(std::move(inner)), watch_(std::move(watch)) {}

  Status sync() override {
    ++watch_->syncs;
    return ForwardingFile::sync();
  }
  Result<std::int64_t> size() override {
    ++watch_->sizes;
    return ForwardingFile::size();
  }
  Result<std::unique_ptr<store::FileLock>> lock(const Extent& range,
                                                store::LockKind kind) override {
    ++(kind == store::LockKind::shared ? watch_->shared_locks : watch_->exclusive_locks);
    return ForwardingFile::lock(range, kind);
  }
  Status check_locks() override {
    if (watch_->has_locks) return ForwardingFile::check_locks();
    return Error{ErrorClass::unsupported_operation, 0, "no locks"};
  }
  store::FileSystemFacts facts() override {
    store::FileSystemFacts facts = ForwardingFile::facts();
    facts.coherent = watch_->coherent;
    return facts;
  }

 private:
  std::shared_ptr<WatchedStore::Watch> watch_;
};

/// Forwards to a transport of the network, because a file owns its transport.
class BorrowedTransport final : public collective::Transport {
 public:
  explicit BorrowedTransport(collective::Transport& inner) : inner_(inner) {}
  [[nodiscard]] int rank() const override { return inner_.rank(); }
  [[nodiscard]] int size() const override { return inner_.size(); }
  [[nodiscard]] const plan::NodeMap& nodes() const override { return inner_.nodes(); }
  [[nodiscard]] const plan::RankTree& tree() const override { return inner_.tree(); }
  collective::MessageId receive(int source, std::span<std::byte> data) override {
    return inner_.receive(source, data);
  }
  bool test(std::span<collective::MessageId> messages) override { return inner_.test(messages); }
  void ring(int rank) override { inner_.ring(rank); }
  void run_in_helper_thread(std::function<bool()> job, int thread_count_max) override {
    inner_.run_in_helper_thread(std::move(job), thread_count_max);
  }
  void wait(collective::Condition& condition) override { inner_.wait(condition); }

 private:
  collective::MessageId post_send(int destination, std::span<const std::byte> data) override {
    return inner_.send(destination, data);
  }

  collective::Transport& inner_;
};

std::optional<ErrorClass> agreed_class(const std::vector<std::optional<Error>>& errors) {
  for (const std::optional<Error>& error : errors) {
    REQUIRE(error.has_value() == errors.front().has_value());
    if (error) CHECK(error->error_class == errors.front()->error_class);
  }
  if (!errors.front()) return std::nullopt;
  return errors.front()->error_class;
}

}  // namespace

Result<std::unique_ptr<store::StoreFile>> WatchedStore::open(const std::string& path,
                                                             const store::OpenOptions& options) {
  ++watch_->opens;
  watch_->permissions = options.permissions;
  Result<std::unique_ptr<store::StoreFile>> file = ForwardingStore::open(path, options);
  if (!file) return file;
  return std::unique_ptr<store::StoreFile>(std::make_unique<WatchedFile>(*std::move(file), watch_));
}

World::World(int rank_count, std::uint64_t seed, int ranks_per_node)
    : seed_(seed),
      network_(std::make_unique<testing::InProcessNetwork>(
          testing::InProcessOptions{rank_count, testing::SendMode::mixed, seed, ranks_per_node})) {
  for (int rank = 0; rank < rank_count; ++rank) {
    watched_.push_back(std::make_shared<WatchedStore>(memory_));
  }
}

World::World(int rank_count, const std::string& text) : World(rank_count) { put(text); }

void World::put(const std::string& text) {
  static_cast<void>(memory_->remove("f"));
  const auto file = memory_->open("f", {.read = true, .write = true, .create = true});
  REQUIRE(file.ok());
  const store::WritePiece piece{reinterpret_cast<const std::byte*>(text.data()), std::ssize(text)};
  REQUIRE_FALSE((*file)->write({&piece, 1}, 0).error.has_value());
}

std::string World::text() const {
  const auto bytes = memory_->contents("f");
  REQUIRE(bytes.ok());
  std::string text;
  for (const std::byte b : *bytes) text += b == std::byte{0} ? '.' : static_cast<char>(b);
  return text;
}

void World::fail(int rank, const std::string& plan) {
  Result<testing::FaultPlan> parsed = testing::parse_fault_plan(plan);
  REQUIRE_MESSAGE(parsed.ok(), parsed.error().message);
  watched_.at(index(rank)) = std::make_shared<WatchedStore>(
      std::make_shared<testing::FaultyStore>(memory_, *std::move(parsed), rank));
}

OpenRequest World::request(int rank, const AccessMode& mode, const InfoPairs& info) {
  Hints hints;
  hints.apply(info, HintTime::open);
  return {.path = "f",
          .mode = mode,
          .hints = std::move(hints),
          .transport = std::make_unique<BorrowedTransport>(network_->transport(rank)),
          .store = watched_.at(index(rank)),
          .one_node = one_node_,
          .id = open_count_};
}

std::vector<Status> World::open(const AccessMode& mode, const InfoPairs& info) {
  ++open_count_;
  auto results = run_ranks<Result<std::shared_ptr<OpenFile>>>(
      [&](int rank) { return OpenFile::open(request(rank, mode, info)); });
  files_.clear();
  std::vector<Status> statuses;
  for (auto& result : results) {
    statuses.push_back(result ? Status() : Status(result.error()));
    if (result) files_.push_back(*std::move(result));
  }
  return statuses;
}

void World::must_open(const AccessMode& mode, const InfoPairs& info) {
  for (const Status& status : open(mode, info)) {
    REQUIRE_MESSAGE(status.ok(), status.error().message);
  }
}

std::vector<Status> World::close() {
  std::vector<Status> statuses = run<Status>([](OpenFile& file, int) { return file.close(); });
  files_.clear();
  return statuses;
}

Access access_to(std::string& text, plan::Direction direction, Position position,
                 std::int64_t offset) {
  return {direction,
          position,
          offset,
          {reinterpret_cast<std::byte*>(text.data()), plan::TypeMap::bytes(1), std::ssize(text)},
          nullptr};
}

std::optional<ErrorClass> agreed(const std::vector<Status>& outcomes) {
  std::vector<std::optional<Error>> errors;
  for (const Status& status : outcomes) {
    errors.push_back(status ? std::nullopt : std::optional(status.error()));
  }
  return agreed_class(errors);
}

std::optional<ErrorClass> agreed(const std::vector<Outcome>& outcomes) {
  std::vector<std::optional<Error>> errors;
  for (const Outcome& outcome : outcomes) errors.push_back(outcome.error);
  return agreed_class(errors);
}

View view_of(const std::vector<std::int64_t>& lengths, const std::vector<std::int64_t>& offsets,
             std::int64_t extent, std::int64_t origin) {
  const plan::TypeMap blocks =
      plan::TypeMap::indexed(plan::TypeMap::bytes(1), lengths, offsets).value();
  View view;
  view.map = {blocks.resized(0, extent).value(), origin};
  return view;
}

}  // namespace nacre::file::fixtures
