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
inline constexpr int no_layout = EBADF;  // returned by writes

/// How the file system answers changes.
struct Taken {
  bool removes = true;
  bool adds = true;
  bool sets_composite = true;
};

class Layouts final : public store::FileLayouts {
 public:
  explicit Layouts(std::optional<plan::Layout> layout, Taken taken = {})
      : layout_(std::move(layout)), taken_(taken) {}

  /// The layout that another process sets after the first read, if there is none then.
  void race(plan::Layout other) { other_ = std::move(other); }
  [[nodiscard]] std::int32_t first_count() const {
    return layout_->components.front().striping.stripe_count;
  }

  /// The end of the layout; nullopt without a layout.
  [[nodiscard]] std::optional<std::int64_t> end() const {
    return layout_ ? std::optional(plan::end_of(*layout_)) : std::nullopt;
  }

  [[nodiscard]] int read_count() const { return read_count_; }

  Result<std::optional<plan::Layout>> read() override {
    ++read_count_;
    const std::optional<plan::Layout> found = layout_;
    if (!layout_) layout_ = std::exchange(other_, std::nullopt);
    return found;
  }
  Status set(const plan::Layout& layout) override {
    if (layout_) return {};
    if (layout.is_composite && !taken_.sets_composite) return refusal();
    layout_ = layout;
    return {};
  }
  Status set_default() override { return set(plan::plain_layout({.stripe_count = 3})); }
  std::optional<plan::Layout> default_layout() override { return std::nullopt; }
  Status add(const plan::Layout& components) override {
    if (!taken_.adds) return refusal();
    layout_->components.push_back(components.components.front());
    return {};
  }
  Status remove_unwritten() override {
    if (!taken_.removes) return refusal();
    std::erase_if(layout_->components, [](const auto& one) { return !one.is_instantiated(); });
    return {};
  }
  bool means_no_layout(const Error& error) const override {
    return error.system_errno == no_layout;
  }
  bool means_not_owner(const Error& error) const override { return error.system_errno == EPERM; }
  Result<std::int32_t> target_count() override { return 8; }

 private:
  static Status refusal() { return Error{ErrorClass::io, EPERM, "not here"}; }

  std::optional<plan::Layout> layout_;
  std::optional<plan::Layout> other_;
  Taken taken_;
  int read_count_ = 0;
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
