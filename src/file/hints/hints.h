// Hints: the settings of one file, from built-in defaults, the system's file, the user's file, the
// environment and the program's info, in that order, the last one winning.
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

/// Keys and values as they stand in an MPI_Info.
using InfoPairs = std::vector<std::pair<std::string, std::string>>;

/// Where variables come from: getenv, or a map in tests.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
[[nodiscard]] Environment process_environment();

enum class Coherence : std::uint8_t { automatic, trusted, locked };

/// What the hints say of data access, ready to use.
struct AccessSettings {
  Coherence coherence = Coherence::automatic;
  collective::IndependentSettings independent;
  plan::CollectiveSettings collective_read;
  plan::CollectiveSettings collective_write;
  std::optional<int> io_thread_count;  ///< nothing: by the file system
};

/// Where a value comes from; a later one beats an earlier one.
enum class HintSource : std::uint8_t {
  built_in,
  system_file,
  user_file,
  environment,
  program,
  open_file,  ///< what an open file is, whatever was asked for
};

/// A value; copies are independent.
class Hints {
 public:
  /// Sets a hint that find_hint() knows, to a value that checked_value() gave.
  void set(std::string_view name, std::string value, HintSource source);
  /// The value in force: what was set, else the default; "" where neither is.
  [[nodiscard]] std::string get(std::string_view name) const;
  [[nodiscard]] HintSource source(std::string_view name) const;
  /// What a program sees in MPI_File_get_info: every hint that has a value.
  [[nodiscard]] InfoPairs effective() const;

  /// Takes over what is known and right of a program's info. What is not is left out, as the
  /// standard has it (hints never make a call fail): unknown names in silence, bad values and,
  /// after the open, changes of what counts only there, with a note.
  void take(const InfoPairs& pairs, HintTime time, HintSource source = HintSource::program);
  /// Why hints of the program are not in force and what else users should know, one line each, for
  /// the report. Grows to 32 at most.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  /// Adds one, unless it is there.
  void note(std::string line);

  /// The file is to be handed to the MPI's own I/O.
  [[nodiscard]] bool bypass() const;
  /// Permissions of a new file, before the umask.
  [[nodiscard]] unsigned permissions() const;
  [[nodiscard]] AccessSettings access_settings() const;

  /// For the other ranks of the same program: never empty.
  [[nodiscard]] std::vector<std::byte> serialized() const;
  /// `bytes` are what serialized() gave.
  [[nodiscard]] static Hints deserialized(std::span<const std::byte> bytes);

 private:
  struct Value {
    std::string text;
    HintSource source = HintSource::built_in;
  };
  [[nodiscard]] std::optional<std::string> accepted_value(const HintRow& row,
                                                          const std::string& value, HintTime time);
  [[nodiscard]] std::int64_t number(std::string_view name) const;
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

/// Resolves all layers for `path`, local. ErrorClass::info_value for a bad value in a file or in
/// the environment, naming where it stands; bad values in `info_pairs` are left out.
///
///   NACRE_SYSTEM_CONFIG, NACRE_CONFIG  other places of the two files
///   ROMIO_HINTS, MPICH_MPIIO_HINTS     what users of other MPI-IOs have set: a file of lines "key
///                                      value"; rules like NACRE_HINTS. Both beat the two files,
///                                      never fail, and what is not known is left out
///   NACRE_<NAME>                       one hint, for all files
///   NACRE_HINTS                        glob:key=value:key=value,glob2:key=value; beats
///   NACRE_EXCLUDE                      comma-separated globs of files that are handed to the MPI
///   NACRE_INCLUDE                      the same of the only ones that are not
///   NACRE_DISABLE                      all files are handed to the MPI
///
/// The last three are kill switches: they stand above every layer. A glob with a slash is matched
/// with the whole path, else with the last part of it; `*` matches slashes too.
[[nodiscard]] Result<Hints> resolve_hints(const std::string& path, const InfoPairs& info_pairs,
                                          const Environment& environment = process_environment());

/// Collective: resolves on rank 0 and spreads the outcome, so that ranks whose environments or
/// infos differ run with the same settings. The other ranks' arguments are not looked at.
collective::Task<Result<Hints>> agree_hints(collective::Transport& transport, std::string path,
                                            InfoPairs info_pairs,
                                            Environment environment = process_environment());

}  // namespace nacre::file

#endif  // NACRE_FILE_HINTS_HINTS_H_
