// An open file and its layout, on a file system in memory whose layouts change. All ranks know the
// layout that rank 0 has read, and the layout is complete after close.
#include "file/layout/open_layout.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "base/bytes_of.h"
#include "fake_layouts.h"
#include "file/open_file.h"
#include "store/forwarding.h"
#include "testing/in_process.h"
#include "testing/memory_store.h"

namespace nacre::file {
namespace {

using collective::Task;
using fixtures::head;
using fixtures::Layouts;
using fixtures::mebibyte;

constexpr int rank_count = 3;

class LaidOutFile final : public store::ForwardingFile {
 public:
  LaidOutFile(std::unique_ptr<store::StoreFile> inner, Layouts& layouts)
      : ForwardingFile(std::move(inner)), layouts_(layouts) {}
  store::FileLayouts* layouts() override { return &layouts_; }

 private:
  Layouts& layouts_;
};

/// One file with its layout, in memory.
class LaidOutStore final : public store::Store {
 public:
  explicit LaidOutStore(Layouts& layouts) : layouts_(layouts) {}
  Result<std::unique_ptr<store::StoreFile>> open(const std::string& path,
                                                 const store::OpenOptions& options) override {
    auto file = memory_.open(path, options);
    if (!file) return file;
    return std::unique_ptr<store::StoreFile>(
        std::make_unique<LaidOutFile>(*std::move(file), layouts_));
  }
  Status remove(const std::string& path) override { return memory_.remove(path); }
  Result<std::unique_ptr<store::SharedCounter>> counter(const store::CounterKey& key,
                                                        bool create) override {
    return memory_.counter(key, create);
  }
  Result<std::int32_t> target_count(const std::string& /*path*/) override { return 8; }
  bool has_flash_targets(const std::string& path) override {
    return Store::has_flash_targets(path);
  }
  Status check_layout(const std::string& path, const plan::Layout& layout) override {
    return Store::check_layout(path, layout);
  }
  void forget_counter(const store::CounterKey& key) override { memory_.forget_counter(key); }

 private:
  Layouts& layouts_;
  testing::MemoryStore memory_;
};

constexpr store::OpenOptions to_write{.write = true, .create = true};
const store::FileSystemFacts with_layouts{.has_layouts = true};

/// The state of one rank.
struct Rank {
  Rank(collective::Transport& its_transport, store::Store& store, const AccessMode& mode)
      : transport(its_transport),
        file(store, "f", to_write),
        layout({transport, file, mutex, hints, mode.write, mode.delete_on_close}) {}

  Task<collective::Unit> open() {
    OpenLayout::AtOpen at_open;
    if (transport.rank() == 0) {
      REQUIRE(file.create(to_write).ok());
      at_open = layout.read(with_layouts);
    }
    auto sending = collective::broadcast(transport, bytes_of(at_open), 0);
    co_await sending;
    auto opening = layout.broadcast_at_open(at_open, {with_layouts, nullptr});
    co_await opening;
    co_return collective::Unit{};
  }

  collective::Transport& transport;
  LazyFile file;
  std::mutex mutex;
  Hints hints;
  OpenLayout layout;
};

class Ranks {
 public:
  explicit Ranks(Layouts& layouts, const AccessMode& mode = {.write = true})
      : store_(layouts), network_({rank_count, testing::SendMode::mixed, 1}) {
    for (int i = 0; i < rank_count; ++i) {
      ranks_.push_back(std::make_unique<Rank>(network_.transport(i), store_, mode));
    }
    all<collective::Unit>([](Rank& rank) { return rank.open(); });
  }

  template <class T, class Make>
  std::vector<T> all(Make make) {
    auto results = testing::run_polled<T>(
        network_, [&](int i) { return make(*ranks_.at(static_cast<std::size_t>(i))); }, 1);
    REQUIRE_MESSAGE(results.has_value(), network_.failure().value_or(""));
    return *std::move(results);
  }
  void grow(std::int64_t end, std::int64_t file_end = 0) {
    const OpenLayout::Reach reach{end, std::max(end, file_end)};
    all<collective::Unit>([&](Rank& rank) { return rank.layout.grow_before_write(reach); });
  }
  void refresh(std::int64_t end) {
    all<collective::Unit>([&](Rank& rank) { return rank.layout.refresh_after_write({0, end}); });
  }
  /// The status of rank 0.
  Status close() {
    auto statuses = all<Status>([](Rank& rank) { return rank.layout.complete_before_close(); });
    return std::move(statuses.front());
  }
  /// The origin of the layout in the report.
  std::string reported_origin() {
    all<collective::Unit>([](Rank& rank) { return rank.layout.read_before_report(); });
    return name_of(ranks_.front()->layout.origin());
  }
  const std::vector<std::string>& notes() { return ranks_.front()->hints.notes(); }
  /// The stripe count of the last component, which all ranks must know; 0: no rank knows one.
  std::int32_t known_stripes() {
    const auto count_of = [](const Rank& rank) {
      const auto& stripes = rank.layout.stripes();
      return stripes == nullptr ? 0 : stripes->regions().back().slot_count();
    };
    for (const auto& rank : ranks_) {
      CHECK(count_of(*rank) == count_of(*ranks_.front()));
      CHECK(rank->layout.grows() == grows());
    }
    return count_of(*ranks_.front());
  }
  /// Of the last component.
  [[nodiscard]] std::int64_t known_stripe_size() const {
    return ranks_.front()->layout.stripes()->regions().back().stripe_size;
  }
  [[nodiscard]] bool grows() const { return ranks_.front()->layout.grows(); }

 private:
  LaidOutStore store_;
  testing::InProcessNetwork network_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace

TEST_CASE("all ranks know the layout that rank 0 has read") {
  Layouts layouts(plan::plain_layout({.stripe_size = mebibyte, .stripe_count = 4}));
  Ranks ranks(layouts);
  CHECK(ranks.known_stripes() == 4);
  CHECK_FALSE(ranks.grows());
  CHECK(ranks.close().ok());
}

TEST_CASE("a file without layout gets one before its first write, and all ranks know it") {
  Layouts layouts(std::nullopt);
  Ranks ranks(layouts);
  CHECK(ranks.known_stripes() == 0);
  CHECK(ranks.grows());
  ranks.grow(0);
  CHECK(ranks.grows());
  ranks.grow(std::int64_t{1} << 30);
  CHECK(ranks.known_stripes() > 1);
  CHECK_FALSE(ranks.grows());
  REQUIRE_FALSE(ranks.notes().empty());
  CHECK(ranks.notes().front().starts_with("layout of the file: "));
}

TEST_CASE("the OSTs of a file follow its announced length, its stripes the length of the calls") {
  constexpr std::int64_t write = 16 * mebibyte;
  const auto laid_out = [](std::int64_t end, std::int64_t file_end) {
    Layouts layouts(std::nullopt);
    layouts.count_osts(1000);
    Ranks ranks(layouts);
    ranks.grow(end, file_end);
    return std::pair(ranks.known_stripes(), ranks.known_stripe_size());
  };
  const auto [short_count, short_size] = laid_out(write, write);
  const auto [long_count, long_size] = laid_out(write, 64 * write);
  const auto [count_of_one_call, size_of_one_call] = laid_out(64 * write, 64 * write);
  CAPTURE(short_count);
  CAPTURE(long_count);
  CAPTURE(long_size);
  CAPTURE(size_of_one_call);
  CHECK(long_count > short_count);
  CHECK(long_count == count_of_one_call);
  CHECK(long_size < size_of_one_call);
  CHECK(long_size <= short_size);
}

TEST_CASE("all ranks know the wider layout after a write that comes near the last component") {
  constexpr std::int64_t gibibyte = 1 << 30;
  Layouts layouts(std::nullopt);
  layouts.count_osts(1000);
  Ranks ranks(layouts);
  ranks.grow(gibibyte);
  const std::int32_t first = ranks.known_stripes();
  const int changes = layouts.change_count();
  layouts.instantiate(4 * gibibyte);
  ranks.refresh(4 * gibibyte);
  CHECK(layouts.change_count() == changes);
  CHECK(ranks.known_stripes() == first);
  layouts.instantiate(8 * gibibyte);
  ranks.refresh(8 * gibibyte);
  CHECK(layouts.change_count() == changes + 2);
  CHECK(ranks.known_stripes() > first);
  CHECK_FALSE(ranks.grows());
  CHECK(ranks.close().ok());
  CHECK(layouts.end() == plan::layout_end_of_file);
}

TEST_CASE("a layout of objects whose OSTs have no names never grows and is read once") {
  Layouts layouts(plan::plain_layout(
      {.stripe_size = mebibyte, .object_size = 4 * mebibyte, .stripe_count = 2}));
  Ranks ranks(layouts, {.write = true});
  CHECK(ranks.known_stripes() == 2);
  CHECK_FALSE(ranks.grows());
  const int reads = layouts.read_count();
  ranks.grow(64 * mebibyte);
  ranks.refresh(64 * mebibyte);
  CHECK(ranks.close().ok());
  CHECK(layouts.read_count() == reads);
  CHECK(layouts.change_count() == 0);
}

TEST_CASE("a small file has a complete layout before its close, which only reads it") {
  Layouts layouts(std::nullopt);
  Ranks ranks(layouts);
  ranks.grow(100);
  CHECK(ranks.grows());
  CHECK(layouts.end() == plan::layout_end_of_file);
  CHECK(ranks.close().ok());
  CHECK(layouts.change_count() == 1);
}

TEST_CASE("close completes a head, with three reads of the layout") {
  Layouts layouts(head());
  Ranks ranks(layouts);
  const int reads = layouts.read_count();
  CHECK(ranks.close().ok());
  CHECK(layouts.end() == plan::layout_end_of_file);
  CHECK(layouts.read_count() == reads + 3);
}

TEST_CASE("the report says what the layout comes from") {
  const plan::Layout four = plan::plain_layout({.stripe_size = mebibyte, .stripe_count = 4});
  Layouts existing(four);
  CHECK(Ranks(existing).reported_origin() == "file");
  existing.inherit(plan::plain_layout({}));  // any number of stripes
  CHECK(Ranks(existing).reported_origin() == "file");
  existing.inherit(four);
  CHECK(Ranks(existing).reported_origin() == "default");
  CHECK(Ranks(existing, {.read = true}).reported_origin().empty());

  Layouts usual(std::nullopt);
  Ranks without_choice(usual);
  REQUIRE(usual.set_default().ok());
  CHECK(without_choice.reported_origin() == "default");

  Layouts chosen(std::nullopt);
  Ranks ranks(chosen);
  ranks.grow(std::int64_t{1} << 30);
  CHECK(ranks.reported_origin() == "nacre");
}

TEST_CASE("a layout that an independent write set is noted once it has grown") {
  Layouts layouts(std::nullopt);
  Ranks ranks(layouts);
  plan::Layout grown = head();
  for (const std::int64_t begin : {1, 4, 16}) {
    grown.components.back().end = begin * mebibyte;
    grown.components.push_back(
        {.begin = begin * mebibyte,
         .striping = {.stripe_size = mebibyte, .stripe_count = begin == 1 ? 1 : 4}});
  }
  REQUIRE(layouts.set(grown).ok());
  layouts.instantiate(2 * mebibyte);
  CHECK(ranks.reported_origin() == "nacre");
  CHECK(ranks.notes().empty());
  layouts.instantiate(5 * mebibyte);
  CHECK(ranks.reported_origin() == "nacre");
  REQUIRE(ranks.notes().size() == 1);
  CHECK(ranks.notes().front() ==
        "the layout grew with the file from 1 OST to 4 OSTs, from byte 4194304 on; Nacre set it at "
        "the first independent write");

  Layouts by_all(std::nullopt);
  Ranks together(by_all);
  together.grow(100);
  together.grow(std::int64_t{1} << 30);
  by_all.instantiate(std::int64_t{1} << 30);
  const std::size_t count = together.notes().size();
  CHECK(together.reported_origin() == "nacre");
  CHECK(together.notes().size() == count);
}

TEST_CASE("a file that only its owner may complete is closed with a note") {
  Layouts layouts(head(), {.adds = false});
  Ranks ranks(layouts);
  CHECK(ranks.close().ok());
  REQUIRE(ranks.notes().size() == 1);
  CHECK(ranks.notes().front().starts_with("not here; the layout does not cover the whole file"));
}

TEST_CASE("a file that is deleted at close or only read keeps its layout") {
  Layouts layouts(head());
  Ranks deleting(layouts, {.write = true, .delete_on_close = true});
  CHECK(deleting.close().ok());
  CHECK(layouts.end() == mebibyte);
  Ranks reading(layouts, {.read = true});
  CHECK_FALSE(reading.grows());
  CHECK(reading.close().ok());
  CHECK(layouts.end() == mebibyte);
}

}  // namespace nacre::file
