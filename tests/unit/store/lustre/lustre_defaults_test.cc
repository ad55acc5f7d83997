// The default striping of a Lustre, from the settings that its clients show.
#include "store/lustre/lustre_defaults.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

namespace nacre::store {
namespace {

/// A folder like /sys/fs/lustre/lov.
class Settings {
 public:
  Settings() { std::filesystem::create_directories(folder_); }
  ~Settings() { std::filesystem::remove_all(folder_); }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

  void add(const std::string& client, const std::string& count, const std::string& size) const {
    std::filesystem::create_directories(folder_ / client);
    std::ofstream(folder_ / client / "stripecount") << count << '\n';
    std::ofstream(folder_ / client / "stripesize") << size << '\n';
  }
  [[nodiscard]] std::optional<plan::Striping> found() const {
    const auto layout = default_of_clients(folder_.string());
    return layout ? std::optional(layout->components.front().striping) : std::nullopt;
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("nacre-lustre-defaults-" + std::to_string(reinterpret_cast<std::uintptr_t>(this)));
};

TEST_CASE("clients of one file system show its default striping") {
  const Settings settings;
  settings.add("lustre-clilov-ff11", "2", "4194304");
  settings.add("lustre-clilov-ff12", "2", "4194304");
  settings.add("lustre-MDT0000-mdtlov", "1", "1048576");
  REQUIRE(settings.found().has_value());
  CHECK(settings.found()->stripe_count == 2);
  CHECK(settings.found()->stripe_size == 4 << 20);
}

TEST_CASE("a count of -1 means all OSTs") {
  const Settings settings;
  settings.add("lustre-clilov-ff11", "-1", "1048576");
  REQUIRE(settings.found().has_value());
  CHECK(settings.found()->stripe_count == plan::stripes_on_all_osts);
}

TEST_CASE("no client, clients that differ, and odd settings show no default") {
  CHECK_FALSE(default_of_clients("/nonexistent/folder").has_value());
  const Settings none;
  CHECK_FALSE(none.found().has_value());
  const Settings different;
  different.add("one-clilov-1", "1", "1048576");
  different.add("two-clilov-2", "4", "1048576");
  CHECK_FALSE(different.found().has_value());
  for (const char* count : {"", "words", "0", "-2", "99999999"}) {
    CAPTURE(count);
    const Settings odd;
    odd.add("lustre-clilov-ff11", count, "1048576");
    CHECK_FALSE(odd.found().has_value());
  }
}

}  // namespace
}  // namespace nacre::store
