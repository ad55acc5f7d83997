#include "file/layout/open_layout.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "base/bytes_of.h"
#include "base/checked_cast.h"
#include "file/layout/found_layout.h"
#include "file/layout/layout_hints.h"
#include "plan/layout/layout_codec.h"

namespace nacre::file {
namespace {

constexpr const char* not_striped = "; Nacre treats the file as not striped";

std::string osts_in_words(const plan::LayoutComponent& component) {
  const std::int32_t count = component.striping.stripe_count;
  return std::to_string(count) + (count == 1 ? " OST" : " OSTs");
}

/// How a layout that an independent write set has grown; "" if all data have the stripe count of
/// the first component.
std::string growth_in_words(const plan::Layout& layout) {
  const auto has_data = [](const plan::LayoutComponent& one) { return one.is_instantiated(); };
  const auto last =
      std::ranges::find_if(layout.components.rbegin(), layout.components.rend(), has_data);
  if (last == layout.components.rend()) return "";
  const plan::LayoutComponent& first = layout.components.front();
  if (last->striping.stripe_count <= first.striping.stripe_count) return "";
  return "the layout grew with the file from " + osts_in_words(first) + " to " +
         osts_in_words(*last) + ", from byte " + std::to_string(last->begin) +
         " on; Nacre set it at the first independent write";
}

}  // namespace

const char* name_of(LayoutOrigin origin) {
  constexpr std::array names{"", "hints", "default", "nacre", "file"};
  return names[static_cast<std::size_t>(origin)];
}

void OpenLayout::note(const std::string& text) {
  const std::lock_guard guard(file_.hints_mutex);
  file_.hints.note(text);
}

/// Keeps the layout for the next broadcast. A layout that was read or checked can be encoded.
void OpenLayout::keep(std::optional<plan::Layout> layout) {
  layout_ = std::move(layout);
  encoded_ = layout_ ? plan::encode_layout(*layout_).value() : std::vector<std::byte>();
}

OpenLayout::AtOpen OpenLayout::read(const store::FileSystemFacts& file_system) {
  const bool may_grow = file_.is_written && file_system.has_layouts;
  Result<std::optional<plan::Layout>> found = find_layout(*file_.file.if_open(), file_system);
  if (!found) {
    note(found.error().message + not_striped);
    // If the layout cannot be read, the file may have none.
    return {.grows = may_grow && found.error().system_errno != 0};
  }
  is_own_ = may_grow && !found->has_value();
  const LayoutState state = state_of(*found, growth_rules(file_.hints));
  // A replaceable layout is used until it is replaced.
  if (state != LayoutState::incomplete) keep(*std::move(found));
  return {.encoded_bytes = std::ssize(encoded_),
          .grows = may_grow && state != LayoutState::settled};
}

/// Broadcasts rank 0's layout, of `bytes` bytes; 0: there is none.
collective::Task<collective::Unit> OpenLayout::broadcast_encoded(std::int64_t bytes) {
  if (bytes == 0) co_return collective::Unit{};
  encoded_.resize(checked_cast<std::size_t>(bytes));
  auto sending = collective::broadcast(file_.transport, encoded_, 0);
  co_await sending;
  if (!layout_) layout_ = plan::decode_layout(encoded_).value();
  const std::lock_guard guard(file_.hints_mutex);
  stripes_ = stripes_of(*layout_).value();
  set_actual_layout(file_.hints, *layout_, *stripes_);
  layout_.reset();
  encoded_ = {};
  co_return collective::Unit{};
}

collective::Task<collective::Unit> OpenLayout::broadcast_at_open(AtOpen at_open, Storage storage) {
  storage_ = std::move(storage);
  grows_ = at_open.grows;
  if (grows_) {
    // Below a size that a hint sets, files get their default; one rank does not know the size.
    const bool may_choose = growth_rules(file_.hints).bytes_min == 0;
    file_.file.expect_growth(may_choose ? std::optional(expected_file({})) : std::nullopt);
  }
  may_name_osts_ = file_.is_written && storage_.file_system.has_layouts;
  return broadcast_encoded(at_open.encoded_bytes);
}

/// Broadcasts rank 0's usable layout. Returns whether there is one.
collective::Task<bool> OpenLayout::broadcast(GrownLayout grown) {
  struct Announcement {
    std::int64_t encoded_bytes;
    std::int64_t widens_from;
  };
  keep(std::move(grown.layout));
  Announcement announced{std::ssize(encoded_), grown.widens_from};
  auto announcing = collective::broadcast(file_.transport, bytes_of(announced), 0);
  co_await announcing;
  widens_from_ = announced.widens_from;
  auto sending = broadcast_encoded(announced.encoded_bytes);
  co_await sending;
  co_return announced.encoded_bytes != 0;
}

/// `written`: by the last or the next collective call. `file_end`: as in Reach.
plan::ExpectedFile OpenLayout::expected_file(Extent written, std::int64_t file_end) {
  const std::int64_t saturation = file_.hints.number("nacre_saturation_bytes");
  plan::ExpectedFile file{.bytes = std::max(written.end(), file_end),
                          .nodes = file_.transport.nodes().node_count(),
                          .ranks = file_.transport.size(),
                          .bytes_per_ost_min = storage_.file_system.saturation_bytes,
                          .call_bytes = written.length};
  if (storage_.machine != nullptr) file = plan::on_machine(file, *storage_.machine);
  if (saturation != 0) file.bytes_per_ost_min = saturation;
  return file;
}

GrownLayout OpenLayout::checked(GrownLayout grown, store::FileLayouts& layouts) {
  for (const std::string& reason : grown.reasons) {
    file_.hints.note("layout of the file: " + reason);
  }
  auto usable = usable_layout(std::move(grown.layout), &layouts);
  if (usable) {
    grown.layout = *std::move(usable);
    return grown;
  }
  file_.hints.note(usable.error().message + not_striped);
  return {};
}

/// Extends the layout before a call of all ranks, as if it began at 0: the first call to a new file
/// usually does. Returns the new layout; none if it is still incomplete.
GrownLayout OpenLayout::grow_on_rank_zero(Reach reach) {
  const Result<store::StoreFile*> file = file_.file.file();
  if (!file) return {};  // the write reports the error
  store::FileLayouts& layouts = *(*file)->layouts();
  const std::lock_guard guard(file_.hints_mutex);
  plan::GrowthRules rules = growth_rules(file_.hints);
  rules.is_own = is_own_;
  Result<GrownLayout> grown =
      grow_for_all(layouts, expected_file({0, reach.end}, reach.file_end), rules);
  if (grown) {
    is_set_by_all_ |= grown->is_new || grown->is_chosen;
    is_chosen_ |= grown->is_chosen;
    return checked(*std::move(grown), layouts);
  }
  file_.hints.note(grown.error().message + "; the file gets the default layout of the file system");
  return {};
}

/// Reads the layout after a write, and widens it if this is due.
GrownLayout OpenLayout::read_on_rank_zero(Extent written) {
  store::StoreFile* const file = file_.file.if_open();
  if (file == nullptr) return {};
  if (written.end() < widens_from_) {
    auto found = find_layout(*file, storage_.file_system);
    if (!found) return {};
    return {.layout = *std::move(found), .reasons = {}, .widens_from = widens_from_};
  }
  const std::lock_guard guard(file_.hints_mutex);
  Result<GrownLayout> grown = widen_after_write(*file->layouts(), expected_file(written));
  if (grown) return checked(*std::move(grown), *file->layouts());
  file_.hints.note(grown.error().message + not_striped);
  return {};
}

collective::Task<collective::Unit> OpenLayout::grow_before_write(Reach reach) {
  if (!grows_) co_return collective::Unit{};
  std::array<std::int64_t, 2> ends{-reach.end, -reach.file_end};
  auto agreeing = collective::agree_with_minima(file_.transport, Status(), ends);
  static_cast<void>(co_await agreeing);  // cannot fail: no rank has an error
  if (ends[0] == 0) co_return collective::Unit{};
  GrownLayout grown;
  if (file_.transport.rank() == 0) grown = grow_on_rank_zero({-ends[0], -ends[1]});
  auto sending = broadcast(std::move(grown));
  grows_ = !co_await sending;
  may_name_osts_ = !grows_;
  co_return collective::Unit{};
}

collective::Task<collective::Unit> OpenLayout::refresh_after_write(Extent written) {
  const bool has_new_osts = may_name_osts_ && stripes_ != nullptr && !stripes_->knows_osts(written);
  if (!has_new_osts && written.end() < widens_from_) co_return collective::Unit{};
  GrownLayout now;
  if (file_.transport.rank() == 0) now = read_on_rank_zero(written);
  auto sending = broadcast(std::move(now));
  const bool is_there = co_await sending;
  // Does not read again if OSTs are still unknown: the write may have gone to another mirror.
  may_name_osts_ = is_there && stripes_->knows_osts(written);
  co_return collective::Unit{};
}

/// Completes the layout. If the layout cannot be read, or only the file's owner may change it, a
/// note says so instead of an error, because the data are in the file.
Status OpenLayout::complete_on_rank_zero() {
  store::StoreFile* const file = file_.file.if_open();
  if (file == nullptr || file_.is_deleted_at_close) return {};
  store::FileLayouts& layouts = *file->layouts();
  Result<std::optional<plan::Layout>> current = layouts.read();
  Status completed = current ? complete_layout(layouts, *current) : current.error();
  if (completed || (current && !layouts.means_not_owner(completed.error()))) return completed;
  note(completed.error().message +
       "; the layout does not cover the whole file: run `nacre doctor FILE`");
  return {};
}

collective::Task<Status> OpenLayout::complete_before_close() {
  if (!grows_) co_return Status();
  // Waits for the other ranks: they may write, and extend the layout, until they close the file.
  auto agreeing = collective::agree(file_.transport, Status());
  static_cast<void>(co_await agreeing);  // cannot fail: no rank has an error
  Status completed;
  if (file_.transport.rank() == 0) completed = complete_on_rank_zero();
  co_return completed;
}

LayoutOrigin OpenLayout::origin_of(const plan::Layout& layout, store::FileLayouts& layouts) {
  if (requested_ && fits(*requested_, layout)) return LayoutOrigin::hints;
  if (is_chosen_) return LayoutOrigin::nacre;
  const std::optional<plan::Layout> usual = layouts.default_layout();
  // Any layout fits a default that leaves the stripe count to the file system.
  const bool is_known =
      usual && !usual->components.empty() && usual->components.back().striping.stripe_count != 0;
  if (is_known && fits(*usual, layout)) return LayoutOrigin::default_layout;
  if (!is_own_) return LayoutOrigin::file;
  // What Nacre sets without a choice begins with a head; a default of several components is known.
  return layout.is_composite ? LayoutOrigin::nacre : LayoutOrigin::default_layout;
}

collective::Task<collective::Unit> OpenLayout::read_before_report() {
  if (!storage_.file_system.has_layouts || !file_.is_written) co_return collective::Unit{};
  GrownLayout now{.layout = {}, .reasons = {}, .widens_from = widens_from_};
  store::StoreFile* const file = file_.transport.rank() == 0 ? file_.file.if_open() : nullptr;
  if (file != nullptr) {
    auto found = find_layout(*file, storage_.file_system);
    if (found && state_of(*found, {}) != LayoutState::incomplete) now.layout = *std::move(found);
    if (now.layout && file->layouts() != nullptr) {
      origin_ = origin_of(*now.layout, *file->layouts());
      const bool is_by_one = origin_ == LayoutOrigin::nacre && !is_set_by_all_;
      const std::string growth = is_by_one ? growth_in_words(*now.layout) : "";
      if (!growth.empty()) note(growth);
    }
  }
  auto sending = broadcast(std::move(now));
  co_await sending;
  co_return collective::Unit{};
}

}  // namespace nacre::file
