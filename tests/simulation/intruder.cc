#include "intruder.h"

#include <cerrno>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/checked_cast.h"
#include "plan/layout/layout_growth.h"
#include "plan/layout/stripe_options.h"

namespace nacre::simulation {
namespace {

using Act = Intrusion::Act;

void read_all(store::StoreFile& file) {
  const Result<std::int64_t> size = file.size();
  if (!size || *size == 0) return;
  std::vector<std::byte> bytes(checked_cast<std::size_t>(*size));
  const store::ReadPiece piece{bytes.data(), *size};
  static_cast<void>(file.read({&piece, 1}, 0));
}

/// The rest of the file gets the striping of the only component of `asked`.
void add_component(store::FileLayouts& layouts, plan::Layout asked) {
  const Result<std::optional<plan::Layout>> current = layouts.read();
  if (!current || !*current) return;
  asked.is_composite = true;
  asked.components.front().begin = plan::end_of(**current);
  static_cast<void>(layouts.add(asked));
}

/// Waits while a rank holds a group lock.
void migrate(sim::Job& job, const Intrusion& intrusion, const std::string& path) {
  constexpr int attempts = 100;
  constexpr sim::SimulatedTime pause = 1'000'000;
  const std::unique_ptr<sim::OpenHandle> handle = job.files().costs().open(intrusion.node, false);
  for (int i = 0; i < attempts; ++i) {
    const Result<sim::StripedFile*> data = job.files().data(path);
    if (!data) return;
    const Status moved =
        (*data)->migrate({handle.get()}, plan::parse_stripe_options(intrusion.layout).value());
    if (moved || moved.error().system_errno != EBUSY) return;
    job.scheduler().sleep(pause);
  }
}

/// Errors are the process's own affair.
void act(sim::Job& job, const Intrusion& intrusion, const std::string& path) {
  job.scheduler().sleep_until(intrusion.at_nanoseconds);
  const auto store = job.files().store_on(intrusion.node);
  const auto file = store->open(path, {.read = true, .write = true, .leaves_layout_open = true});
  if (!file) return;
  store::FileLayouts& layouts = *(*file)->layouts();
  switch (intrusion.act) {
    case Act::read:
      read_all(**file);
      break;
    case Act::set_layout:
      static_cast<void>(layouts.set(plan::parse_stripe_options(intrusion.layout).value()));
      break;
    case Act::add_component:
      add_component(layouts, plan::parse_stripe_options(intrusion.layout).value());
      break;
    case Act::remove_unwritten:
      static_cast<void>(layouts.remove_unwritten());
      break;
    case Act::migrate:
      migrate(job, intrusion, path);
      break;
  }
  static_cast<void>((*file)->close());
}

}  // namespace

void start_intruder(sim::Job& job, const Intrusion& intrusion, const std::string& path) {
  job.scheduler().start("another process", [&job, &intrusion, path] { act(job, intrusion, path); });
}

}  // namespace nacre::simulation
