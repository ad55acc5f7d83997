#include "store/lustre/lustre_defaults.h"

#include <charconv>
#include <cstdint>
#include <filesystem>

#include "base/checked_cast.h"
#include "store/system/directory.h"
#include "store/system/text_file.h"

namespace nacre::store {
namespace {

std::optional<std::int64_t> number_in(const std::filesystem::path& file) {
  const auto text = read_text_file(file.string());
  if (!text || !text->has_value()) return std::nullopt;
  std::int64_t number = 0;
  const char* const end = (*text)->data() + (*text)->size();
  if (std::from_chars((*text)->data(), end, number).ec != std::errc()) return std::nullopt;
  return number;
}

/// The settings of one client.
std::optional<plan::Striping> striping_of(const std::filesystem::path& client) {
  constexpr std::int64_t all = -1;
  const auto count = number_in(client / "stripecount");
  const auto size = number_in(client / "stripesize");
  if (!count || !size || *size <= 0 || *count < all || *count == 0) return std::nullopt;
  if (*count > plan::stripes_on_all_osts) return std::nullopt;
  return plan::Striping{.stripe_size = *size,
                        .stripe_count = *count == all ? plan::stripes_on_all_osts
                                                      : checked_cast<std::int32_t>(*count)};
}

}  // namespace

std::optional<plan::Layout> default_of_clients(const std::string& folder) {
  std::optional<plan::Striping> common;
  for (const std::string& entry : files_in(folder, "")) {
    if (entry.find("-clilov-", folder.size()) == std::string::npos) continue;
    const std::optional<plan::Striping> one = striping_of(entry);
    if (!one || (common && *common != *one)) return std::nullopt;
    common = one;
  }
  return common ? std::optional(plan::plain_layout(*common)) : std::nullopt;
}

}  // namespace nacre::store
