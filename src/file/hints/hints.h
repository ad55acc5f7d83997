// Hints: the settings of one file. Sources, in increasing priority: built-in defaults, the system's
// configuration file, the user's, the environment, the program's info.
#ifndef NACRE_FILE_HINTS_HINTS_H_
#define NACRE_FILE_HINTS_HINTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "collective/files/independent.h"
#include "collective/task/task.h"
#include "collective/task/transport.h"
#include "file/hints/hint_table.h"
#include "plan/call/collective_settings.h"

namespace nacre::file {

/// Keys and values of an MPI_Info.
using InfoPairs = std::vector<std::pair<std::string, std::string>>;

/// Looks up environment variables: getenv, or a map in tests.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
[[nodiscard]] Environment process_environment();
/// The folder of the user's configuration: "nacre" in XDG_CONFIG_HOME or ~/.config. Empty if
/// neither is known.
[[nodiscard]] std::string user_config_folder(const Environment& environment);

enum class Coherence : std::uint8_t { automatic, trusted, locked };

/// The hints of data access in typed form.
struct AccessSettings {
  Coherence coherence = Coherence::automatic;
  collective::IndependentSettings independent;
  plan::CollectiveSettings collective_read;
  plan::CollectiveSettings collective_write;
  bool learns = true;                  ///< nacre_learn
  std::optional<int> io_thread_count;  ///< nothing: depends on the file system
  bool reads_past_cache = false;       ///< direct_read
};

/// The source of a value, in increasing priority.
enum class HintSource : std::uint8_t {
  built_in,
  system_file,
  user_file,
  environment,
  program,
  open_file,  ///< the actual value of an open file, whatever was requested
};

/// A value type: copies are independent.
class Hints {
 public:
  /// Sets a hint that find_hint() knows to a value that checked_value() returned.
  void set(std::string_view name, std::string value, HintSource source);
  /// The value that was set, otherwise the default; "" if there is neither.
  [[nodiscard]] std::string get(std::string_view name) const;
  /// The value as a number; 0 if there is none.
  [[nodiscard]] std::int64_t number(std::string_view name) const;
  [[nodiscard]] HintSource source(std::string_view name) const;
  /// Who requested the value that the open file's value has replaced; built_in: nobody.
  [[nodiscard]] HintSource requester(std::string_view name) const;
  /// Every hint that has a value, for MPI_File_get_info.
  [[nodiscard]] InfoPairs effective() const;

  /// Applies the valid hints of a program's info. By the standard hints never make a call fail.
  /// Ignores with a note: invalid values, after the open hints that only MPI_File_open can set, and
  /// unknown names like that of a known hint. Ignores other unknown names silently, because they
  /// may be for another library. Notes hints without effect.
  void apply(const InfoPairs& pairs, HintTime time, HintSource source = HintSource::program);
  /// Remarks for users, such as why a hint is not in force, one line each, for the report. At
  /// most 32.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  /// Adds a note unless it exists.
  void note(std::string line);

  /// Whether all hints have the same values, from the same sources. Notes may differ.
  [[nodiscard]] bool equals(const Hints& other) const { return values_ == other.values_; }

  /// Whether the MPI's own MPI-IO serves the file.
  [[nodiscard]] bool bypass() const;
  /// Permissions of a new file, before the umask.
  [[nodiscard]] unsigned permissions() const;
  [[nodiscard]] AccessSettings access_settings() const;

  /// For a broadcast to the other ranks; never empty.
  [[nodiscard]] std::vector<std::byte> serialized() const;
  /// `bytes` is a result of serialized().
  [[nodiscard]] static Hints deserialized(std::span<const std::byte> bytes);

 private:
  struct Value {
    std::string text;
    HintSource source = HintSource::built_in;
    HintSource requester = HintSource::built_in;
    friend bool operator==(const Value&, const Value&) = default;
  };
  [[nodiscard]] std::optional<std::string> accepted_value(const HintRow& row,
                                                          const std::string& value, HintTime time);
  void note_unknown(const std::string& name);
  [[nodiscard]] std::int64_t buffer_bytes(std::string_view name) const;
  [[nodiscard]] bool is(std::string_view name, std::string_view value) const;
  [[nodiscard]] Coherence coherence() const;
  [[nodiscard]] plan::DomainPattern pattern() const;
  [[nodiscard]] plan::WriteLocks write_locks() const;
  [[nodiscard]] plan::CollectiveSettings collective(std::string_view switch_name) const;
  [[nodiscard]] collective::IndependentSettings independent() const;
  [[nodiscard]] std::optional<int> io_thread_count() const;
  [[nodiscard]] std::shared_ptr<const plan::InitialGroups> initial_groups() const;

  std::map<std::string, Value, std::less<>> values_;
  std::vector<std::string> notes_;
};

/// Reads all sources for `path`. Local. ErrorClass::info_value names the place of an invalid value
/// in a file or in the environment; invalid values in `info_pairs` are ignored.
///
/// - NACRE_SYSTEM_CONFIG, NACRE_CONFIG: paths of the two configuration files.
/// - ROMIO_HINTS, MPICH_MPIIO_HINTS: hints for other MPI-IO libraries: a file of lines "key value",
///   or rules as in NACRE_HINTS. They override the files. Unknown and invalid hints are ignored.
/// - NACRE_<NAME>: one hint, for all files.
/// - NACRE_HINTS: glob:key=value:key=value,glob2:key=value; overrides all above.
/// - NACRE_EXCLUDE: comma-separated globs of files that the MPI's own MPI-IO serves.
/// - NACRE_INCLUDE: the same, of the only files that Nacre serves.
/// - NACRE_DISABLE: the MPI's own MPI-IO serves all files.
///
/// The last three override every source. A glob with a slash is matched against the whole path, any
/// other glob against its last part; `*` matches slashes too.
[[nodiscard]] Result<Hints> resolve_hints(const std::string& path, const InfoPairs& info_pairs,
                                          const Environment& environment = process_environment());

/// Collective. Resolves the hints on rank 0 and broadcasts them, so that all ranks use the same
/// settings even if their environments or infos differ. Ignores the arguments of other ranks.
collective::Task<Result<Hints>> agree_hints(collective::Transport& transport, std::string path,
                                            InfoPairs info_pairs,
                                            Environment environment = process_environment());

}  // namespace nacre::file

#endif  // NACRE_FILE_HINTS_HINTS_H_
