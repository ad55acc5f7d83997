#include "sim/job/job.h"

#include <optional>

#include "base/checked_cast.h"
#include "collective/agreement/agreements.h"
#include "file/hints/hints.h"
#include "sim/files/phantom_store.h"

namespace nacre::sim {
namespace {

ObjectStore objects_of(const JobSettings& settings) {
  return settings.phantom ? ObjectStore(make_phantom_store(), "") : ObjectStore();
}

machine::Machine machine_of(const JobSettings& settings) {
  machine::Machine machine = settings.machine;
  machine.nodes = settings.nodes.node_count();
  return machine;
}

}  // namespace

Result<std::unique_ptr<Job>> Job::make(JobSettings settings) {
  Result<store::ReservedMemory> memory =
      store::ReservedMemory::reserve(settings.address_space_bytes);
  if (!memory) return std::move(memory).error();
  return std::unique_ptr<Job>(new Job(std::move(settings), *std::move(memory)));
}

Job::Job(JobSettings settings, store::ReservedMemory memory)
    : settings_(std::move(settings)),
      machine_(machine_of(settings_)),
      scheduler_(settings_.stack_bytes),
      clock_(scheduler_),
      cores_(machine_.one_computer != 0
                 ? std::optional<CoreQueue>(machine_.cores > 0 ? machine_.cores
                                                               : settings_.nodes.rank_count())
                 : std::nullopt),
      network_(scheduler_, machine_,
               {.nodes = settings_.nodes,
                .phantom = settings_.phantom,
                .buffered_bytes_max = settings_.buffered_bytes_max,
                .delay = settings_.delay,
                .refuses_memory = settings_.refuses_memory,
                .cores = cores_ ? &*cores_ : nullptr},
               std::move(memory)),
      files_(scheduler_, machine_, objects_of(settings_), cores_ ? &*cores_ : nullptr) {
  if (machine_.messages_share_link != 0) files_.costs().share_links(network_.links());
}

std::shared_ptr<store::Store> Job::make_store(int rank) {
  std::shared_ptr<store::Store> store = files_.store_on(network_.nodes().node_of(rank));
  return settings_.with_faults ? settings_.with_faults(std::move(store), rank) : store;
}

Status Job::run(const Program& program, SimulatedTime time_max) {
  for (int rank = 0; rank < network_.size(); ++rank) {
    scheduler_.start("rank " + std::to_string(rank), [this, &program, rank] {
      RankOfJob self(*this, rank);
      program(self);
    });
  }
  const bool all_ended = scheduler_.run(time_max);
  if (network_.failure()) return Error{ErrorClass::internal, 0, *network_.failure()};
  if (!all_ended) {
    const bool is_late = scheduler_.has_events();
    return Error{ErrorClass::internal, 0,
                 (is_late ? "still running: " : "waiting for each other: ") + scheduler_.stuck()};
  }
  if (const std::int64_t count = network_.unmatched_count(); count > 0) {
    return Error{ErrorClass::internal, 0,
                 std::to_string(count) + " messages were sent or expected in vain"};
  }
  return {};
}

Result<std::shared_ptr<file::OpenFile>> RankOfJob::open(const std::string& path,
                                                        const file::AccessMode& mode,
                                                        const file::InfoPairs& hints) {
  ++open_count_;
  file::Hints applied;
  applied.apply(hints, file::HintTime::open);
  file::OpenRequest request{.path = path,
                            .mode = mode,
                            .hints = std::move(applied),
                            .transport = job_.network().make_transport(rank_, open_count_),
                            .store = store_,
                            .copies = job_.network().copies(rank_),
                            .one_node = job_.network().nodes().node_count() == 1,
                            .id = open_count_};
  return run(file::OpenFile::open(std::move(request)));
}

void RankOfJob::barrier() { static_cast<void>(run(collective::agree(*transport_, Status()))); }

}  // namespace nacre::sim
