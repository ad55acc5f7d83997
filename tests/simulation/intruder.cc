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

std::unique_ptr<store::StoreFile> opened(sim::Job& job, const Intrusion& intrusion,
                                         const std::string& path) {
  const auto store = job.files().store_on(intrusion.node);
  auto file = store->open(path, {.read = true, .write = true, .leaves_layout_open = true});
  return file ? *std::move(file) : nullptr;
}

/// Waits while a rank holds a group lock.
void migrate(sim::Job& job, const Intrusion& intrusion, const std::string& path) {
  constexpr int attempts = 100;
  constexpr sim::SimulatedTime pause = 1'000'000;
  const std::unique_ptr<sim::OpenHandle> handle = job.files().costs().open(intrusion.node, false);
  for (int i = 0; i < attempts; ++i) {
    const auto file = opened(job, intrusion, path);  // the file stays if a rank deletes its name
    const Result<std::shared_ptr<sim::StripedFile>> data = job.files().data(path);
    if (file == nullptr || !data) return;
    const Status moved =
        (*data)->migrate({handle.get()}, plan::parse_stripe_options(intrusion.layout).value());
    static_cast<void>(file->close());
    if (moved || moved.error().system_errno != EBUSY) return;
    job.scheduler().sleep(pause);
  }
}

/// Errors are the process's own affair.
void act(sim::Job& job, const Intrusion& intrusion, const std::string& path,
         sim::SimulatedTime begin) {
  job.scheduler().sleep_until(begin + intrusion.at_nanoseconds);
  if (intrusion.act == Act::migrate) return migrate(job, intrusion, path);
  const auto file = opened(job, intrusion, path);
  if (file == nullptr) return;
  store::FileLayouts& layouts = *file->layouts();
  switch (intrusion.act) {
    case Act::read:
      read_all(*file);
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
      break;
  }
  static_cast<void>(file->close());
}

}  // namespace

void start_intruder(sim::Job& job, const Intrusion& intrusion, const std::string& path) {
  const sim::SimulatedTime begin = job.scheduler().now();
  job.scheduler().start("another process",
                        [&job, &intrusion, path, begin] { act(job, intrusion, path, begin); });
}

}  // namespace nacre::simulation
