// Runs the collective operations of a job of up to a million ranks in one process: the map of the
// nodes, a collective write that needs no exchange, the groups of segmentation, and the delivery of
// views. Each rank is a coroutine of src/collective; messages take no time. Prints a line of JSON
// for each operation with the messages, bytes and heap of the ranks.
//
// Usage: nacre_bench_scale NODES RANKS_PER_NODE OSTS
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked_cast.h"
#include "base/json.h"
#include "base/parse_number.h"
#include "collective/agreement/agreements.h"
#include "collective/agreement/parcels.h"
#include "collective/agreement/rank_grouping.h"
#include "collective/engine.h"
#include "common/of_ranks_json.h"
#include "machine/machine_file.h"
#include "mailboxes.h"
#include "rank_heap.h"
#include "store/forwarding.h"
#include "testing/memory_store.h"

namespace nacre::bench {
namespace {

using collective::Task;
using collective::Transport;

constexpr std::int64_t mebibyte = 1 << 20;
// As in nacre-bench growth: six blocks of each rank, dealt to the ranks in turn.
constexpr std::int64_t block_bytes = 40 << 10;
constexpr std::int64_t blocks = 6;

struct Job {
  int nodes = 0;
  int ranks_per_node = 0;
  int osts = 0;

  [[nodiscard]] int ranks() const { return nodes * ranks_per_node; }
};

/// Runs make_task(transport) on every rank, each as far as its messages allow, and prints the
/// figures.
template <class T, class MakeTask>
void run(const char* name, const plan::NodeMap& nodes, const MakeTask& make_task) {
  using Operation = collective::Operation<T>;
  const auto begin = std::chrono::steady_clock::now();
  Mailboxes mailboxes(nodes);
  const auto rank_count = static_cast<std::size_t>(nodes.rank_count());
  std::vector<std::unique_ptr<Operation>> operations(rank_count);
  std::vector<RankHeap> heaps(rank_count);
  std::size_t ended = 0;
  for (int rank = mailboxes.next_ready(); rank >= 0; rank = mailboxes.next_ready()) {
    const auto index = static_cast<std::size_t>(rank);
    const RankHeap::Scope counts(heaps[index]);
    std::unique_ptr<Operation>& operation = operations[index];
    if (operation == nullptr) {
      Transport& transport = mailboxes.transport(rank);
      operation = std::make_unique<Operation>(make_task(transport), transport);
    }
    if (!operation->advance()) continue;
    const T result = std::move(operation->value());
    operation.reset();
    heaps[index].note_kept();
    mailboxes.end(rank);
    ++ended;
  }
  if (ended < rank_count) {
    std::fprintf(stderr, "nacre_bench_scale: %s: ranks wait for each other\n", name);
    std::exit(1);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const auto traffic = [&](std::int64_t Mailboxes::Traffic::*figure) {
    return of_ranks_json(nodes.rank_count(),
                         [&](int rank) { return mailboxes.traffic(rank).*figure; });
  };
  const auto heap = [&](std::int64_t (RankHeap::*figure)() const) {
    return of_ranks_json(nodes.rank_count(), [&](int rank) {
      return (heaps[static_cast<std::size_t>(rank)].*figure)();
    });
  };
  const std::string line = JsonObject()
                               .add_text("operation", name)
                               .add_number("ranks", nodes.rank_count())
                               .add_number("nodes", nodes.node_count())
                               .add("messages", traffic(&Mailboxes::Traffic::messages))
                               .add("bytes", traffic(&Mailboxes::Traffic::bytes))
                               .add("heap_bytes", heap(&RankHeap::peak))
                               .add("kept_bytes", heap(&RankHeap::kept))
                               .add("seconds", std::to_string(seconds.count()))
                               .text();
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// ---- a collective write without an exchange ----

/// Discards what is written.
class Sink final : public store::ForwardingFile, public collective::FileSource {
 public:
  Sink() : ForwardingFile(opened()) {}
  store::Transfer write(std::span<const store::WritePiece> pieces,
                        std::int64_t /*offset*/) override {
    store::Transfer transfer;
    for (const store::WritePiece& piece : pieces) transfer.bytes += piece.size;
    return transfer;
  }
  Result<store::StoreFile*> file() override { return this; }

 private:
  static std::unique_ptr<store::StoreFile> opened() {
    return testing::MemoryStore().open("file", {.write = true, .create = true}).value();
  }
};

/// What one rank has of an open file.
struct OpenedFile {
  collective::ViewMemory views;
  collective::NodeRounds rounds;
  collective::RankGroupCache groups;
  collective::RepeatedAccess repeated;
  collective::Profile profile;
  collective::Profiler profiler{profile, collective::Phase::plan};
  std::unique_ptr<plan::ChoiceMemory> choices;  ///< on rank 0
};

plan::CollectiveSettings settings_of(const Job& job) {
  plan::CollectiveSettings settings;
  settings.algorithm = plan::Algorithm::direct;
  settings.saturation_bytes = 32 * mebibyte;
  settings.machine = std::make_shared<const machine::Machine>(machine::shipped_machine("lustre"));
  const plan::Layout layout =
      plan::plain_layout({.stripe_size = mebibyte, .stripe_count = job.osts});
  settings.stripes =
      std::make_shared<const plan::StripeMap>(plan::StripeMap::of(layout, job.osts).value());
  return settings;
}

/// Each rank writes a stripe.
Task<collective::Outcome> write_all(Transport& transport, Sink& sink,
                                    const plan::CollectiveSettings& settings,
                                    std::span<std::byte> buffer) {
  OpenedFile opened;
  if (transport.rank() == 0) opened.choices = std::make_unique<plan::ChoiceMemory>();
  collective::CollectiveCall call;
  call.direction = plan::Direction::write;
  const std::int64_t bytes = std::ssize(buffer);
  call.file = {{plan::TypeMap::bytes(bytes), transport.rank() * bytes}, 0, bytes};
  call.memory = {buffer.data(), plan::TypeMap::bytes(1), bytes};
  const collective::CollectiveFile file{.source = sink,
                                        .views = opened.views,
                                        .rounds = opened.rounds,
                                        .groups = opened.groups,
                                        .repeated = opened.repeated,
                                        .profiler = opened.profiler,
                                        .choices = opened.choices.get()};
  auto writing = collective::run_collective(transport, file, std::move(call), settings);
  collective::Outcome outcome = co_await writing;
  if (outcome.error || outcome.bytes != bytes) {
    std::fprintf(stderr, "nacre_bench_scale: the collective write failed\n");
    std::exit(1);
  }
  co_return outcome;
}

// ---- what precedes an exchange ----

Task<collective::SharedGroups> form_groups(Transport& transport) {
  constexpr std::int64_t bytes = blocks * block_bytes;
  const plan::RankLoad load{{transport.rank() * bytes, bytes}, bytes};
  const collective::GroupingRequest request{.initial = nullptr,
                                            .target = {.saturation_bytes = 32 * mebibyte}};
  auto sharing = collective::share_groups(transport, load, request);
  co_return co_await sharing;
}

/// The aggregators, one for each OST, whose OSTs have a byte of the rank's blocks.
std::set<int> aggregators_of(const Job& job, int rank) {
  std::set<int> aggregators;
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t begin = (block * job.ranks() + rank) * block_bytes;
    for (const std::int64_t offset : {begin, begin + block_bytes - 1}) {
      aggregators.insert(static_cast<int>(offset / mebibyte % job.osts));
    }
  }
  return aggregators;
}

/// Each rank sends its view to its aggregators, in the form of collective/views.
Task<std::vector<collective::Parcel>> deliver_views(Transport& transport, const Job& job) {
  constexpr std::size_t head_bytes = 40;
  const plan::TypeMap block = plan::TypeMap::bytes(block_bytes);
  std::vector<std::byte> view(head_bytes);
  block.resized(0, job.ranks() * block_bytes).value().encode(view);
  std::vector<collective::Parcel> parcels;
  for (const int aggregator : aggregators_of(job, transport.rank())) {
    const auto rank = static_cast<int>(std::int64_t{aggregator} * job.ranks() / job.osts);
    parcels.push_back({rank, view});
  }
  auto delivering = collective::deliver(transport, std::move(parcels));
  co_return co_await delivering;
}

plan::NodeMap nodes_of(const Job& job) {
  std::vector<plan::NodeMap::Run> runs;
  runs.reserve(static_cast<std::size_t>(job.nodes));
  for (int node = 0; node < job.nodes; ++node) {
    runs.push_back({static_cast<std::uint64_t>(node + 1), job.ranks_per_node});
  }
  return plan::NodeMap::from_runs(runs);
}

void run_all(const Job& job) {
  run<plan::NodeMap>(
      "map of the nodes", plan::NodeMap::singles(job.ranks()), [&](Transport& transport) {
        const int node = transport.rank() / job.ranks_per_node;
        return collective::agree_on_nodes(transport, static_cast<std::uint64_t>(node) + 1);
      });
  const plan::NodeMap nodes = nodes_of(job);
  const plan::CollectiveSettings settings = settings_of(job);
  Sink sink;
  std::vector<std::byte> buffer(mebibyte);
  run<collective::Outcome>("collective write without exchange", nodes, [&](Transport& transport) {
    return write_all(transport, sink, settings, buffer);
  });
  run<collective::SharedGroups>("groups of segmentation", nodes, &form_groups);
  run<std::vector<collective::Parcel>>(
      "views", nodes, [&](Transport& transport) { return deliver_views(transport, job); });
}

}  // namespace
}  // namespace nacre::bench

int main(int argc, char** argv) {
  nacre::bench::Job job;
  bool is_valid = argc == 4;
  char** argument = argv;
  for (int* const number : {&job.nodes, &job.ranks_per_node, &job.osts}) {
    if (!is_valid) break;
    const auto parsed = nacre::parse_number<int>(*++argument);
    is_valid = parsed && *parsed >= 1;
    if (is_valid) *number = *parsed;
  }
  if (!is_valid) {
    std::fputs("usage: nacre_bench_scale NODES RANKS_PER_NODE OSTS\n", stderr);
    return 2;
  }
  nacre::bench::run_all(job);
}
