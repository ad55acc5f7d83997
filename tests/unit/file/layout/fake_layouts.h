// The layout of a file on a file system that may refuse to change it.
#ifndef NACRE_TESTS_UNIT_FILE_LAYOUT_FAKE_LAYOUTS_H_
#define NACRE_TESTS_UNIT_FILE_LAYOUT_FAKE_LAYOUTS_H_

#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "plan/layout/layout.h"
#include "plan/layout/layout_growth.h"
#include "store/store.h"

namespace nacre::file::fixtures {

inline constexpr std::int64_t mebibyte = 1 << 20;
inline constexpr std::int32_t default_count = 3;
inline constexpr int no_layout = EBADF;  // returned by writes

/// How the file system answers changes.
struct Taken {
  bool removes = true;
  bool adds = true;
  bool adds_wide = true;  ///< components with more stripes than the default
  bool sets_composite = true;
};

class Layouts final : public store::FileLayouts {
 public:
  explicit Layouts(std::optional<plan::Layout> layout, Taken taken = {})
      : layout_(std::move(layout)), taken_(taken) {}

  /// The layout that another process sets after the first read, if there is none then.
  void race(plan::Layout other) { other_ = std::move(other); }
  /// The same. This node learns of it at its next write only.
  void race_unseen(plan::Layout other) {
    race(std::move(other));
    learns_late_ = true;
  }
  void note_write() { learns_late_ = false; }
  [[nodiscard]] std::int32_t first_count() const {
    return layout_->components.front().striping.stripe_count;
  }

  /// The end of the layout; nullopt without a layout.
  [[nodiscard]] std::optional<std::int64_t> end() const {
    return layout_ ? std::optional(plan::end_of(*layout_)) : std::nullopt;
  }

  [[nodiscard]] int read_count() const { return read_count_; }
  [[nodiscard]] int change_count() const { return change_count_; }
  void refuse(Taken taken) { taken_ = taken; }
  void count_osts(std::optional<std::int32_t> count) { ost_count_ = count; }
  /// The default layout of the directory.
  void inherit(plan::Layout layout) { default_ = std::move(layout); }
  [[nodiscard]] std::vector<std::int32_t> counts() const {
    std::vector<std::int32_t> counts;
    for (const auto& one : layout_->components) counts.push_back(one.striping.stripe_count);
    return counts;
  }
  /// A write up to `end`.
  void instantiate(std::int64_t end) {
    for (plan::LayoutComponent& one : layout_->components) {
      if (one.begin < end) one.flags |= plan::component_instantiated;
    }
  }

  Result<std::optional<plan::Layout>> read() override {
    ++read_count_;
    const std::optional<plan::Layout> found = learns_late_ ? std::nullopt : layout_;
    if (!layout_) layout_ = std::exchange(other_, std::nullopt);
    return found;
  }
  Status set(const plan::Layout& layout) override {
    if (layout_) return {};
    if (layout.is_composite && !taken_.sets_composite) return refusal();
    layout_ = layout;
    for (plan::LayoutComponent& component : layout_->components) fill_in(component.striping);
    layout_->components.front().flags = plan::component_instantiated;
    ++change_count_;
    return {};
  }
  Status set_default() override {
    if (default_) return set(*default_);
    return set(plan::plain_layout({.stripe_size = mebibyte, .stripe_count = default_count}));
  }
  std::optional<plan::Layout> default_layout() override { return default_; }
  Status add(const plan::Layout& components) override {
    const bool is_wide = components.components.back().striping.stripe_count > default_count;
    if (!taken_.adds || (is_wide && !taken_.adds_wide)) return refusal();
    for (plan::LayoutComponent component : components.components) {
      fill_in(component.striping);
      layout_->components.push_back(std::move(component));
    }
    ++change_count_;
    return {};
  }
  Status remove_unwritten() override {
    if (!taken_.removes) return refusal();
    ++change_count_;
    std::erase_if(layout_->components, [](const auto& one) { return !one.is_instantiated(); });
    return {};
  }
  bool means_no_layout(const Error& error) const override {
    return error.system_errno == no_layout;
  }
  bool means_not_owner(const Error& error) const override { return error.system_errno == EPERM; }
  Result<std::int32_t> target_count() override {
    if (!ost_count_) return Error{ErrorClass::access, EACCES, "cannot count the OSTs"};
    return *ost_count_;
  }

 private:
  static Status refusal() { return Error{ErrorClass::io, EPERM, "not here"}; }

  /// As the file system does: the default is default_count stripes of 1 MiB.
  static void fill_in(plan::Striping& striping) {
    if (striping.stripe_count == 0) striping.stripe_count = default_count;
    if (striping.stripe_size == 0) striping.stripe_size = mebibyte;
  }

  std::optional<plan::Layout> layout_;
  std::optional<plan::Layout> default_;
  std::optional<plan::Layout> other_;
  Taken taken_;
  std::optional<std::int32_t> ost_count_ = 8;
  bool learns_late_ = false;
  int read_count_ = 0;
  int change_count_ = 0;
};

inline plan::Layout head() {
  plan::Layout layout;
  layout.is_composite = true;
  layout.components.push_back(
      {.end = mebibyte, .striping = {.stripe_size = mebibyte, .stripe_count = 1}});
  return layout;
}

}  // namespace nacre::file::fixtures

#endif  // NACRE_TESTS_UNIT_FILE_LAYOUT_FAKE_LAYOUTS_H_
