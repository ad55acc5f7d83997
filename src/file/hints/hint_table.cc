#include "file/hints/hint_table.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "base/checked_cast.h"
#include "base/json.h"
#include "base/parse_number.h"
#include "base/split.h"
#include "file/hints/group_hint.h"
#include "plan/algorithms/algorithm_table.h"
#include "plan/layout/stripe_options.h"

namespace nacre::file {
namespace {

using namespace std::string_literals;

constexpr std::string_view automatic = "automatic|enable|disable";
constexpr HintTime always = HintTime::always;
constexpr HintTime open = HintTime::open;

constexpr HintRow ignored_hint(std::string_view name, HintKind kind, HintTime time,
                               std::string_view reason) {
  const bool is_number = kind == HintKind::bytes || kind == HintKind::count;
  return {.name = name,
          .kind = kind,
          .time = time,
          .default_value = kind == HintKind::boolean ? "false" : "",
          .minimum = is_number ? 1 : 0,
          .meaning = reason,
          .has_effect = false};
}

constexpr std::string_view of_each_call =
    "Nacre has no use for it; each call shows what the ranks access.";
constexpr std::string_view of_placement =
    "Nacre has no use for it; Nacre places the aggregators itself, and cb_nodes sets their number.";

/// "automatic" and the name of every algorithm.
std::string_view algorithm_choices() {
  static const std::string choices = [] {
    std::string names = "automatic";
    for (const plan::AlgorithmRow* const row : plan::algorithm_table()) {
      names.append("|").append(row->name);
    }
    return names;
  }();
  return choices;
}

const std::array table{
    // Nacre's own.
    HintRow{.name = "nacre_enable",
            .kind = HintKind::boolean,
            .time = open,
            .default_value = "true",
            .meaning = "Whether Nacre serves the file. false: the MPI's own MPI-IO serves it."},
    HintRow{.name = "nacre_algorithm",
            .kind = HintKind::choice,
            .default_value = "automatic",
            .choices = algorithm_choices(),
            .meaning = "Algorithm of collective calls. automatic: Nacre chooses for each call. "
                       "Overrides collective_buffering, romio_cb_read and romio_cb_write."},
    HintRow{.name = "nacre_groups",
            .kind = HintKind::groups,
            .default_value = "automatic",
            .meaning =
                "Initial groups of ranks in the segmentation algorithms; Nacre then splits and "
                "merges them by nacre_saturation_bytes. 4x4: a grid of ranks, each row is a group. "
                "0-3/4-7+9: lists of ranks. each: one group per rank. automatic: the rows of a "
                "cartesian communicator, otherwise by the order of the data in the file."},
    HintRow{.name = "nacre_machine",
            .kind = HintKind::text,
            .time = open,
            .default_value = "automatic",
            .meaning = "Figures of the machine, by which Nacre compares plans: a machine file, or "
                       "a class such as lustre. automatic: the machine file of the user or of the "
                       "site for this file system, otherwise its class. none: Nacre does not "
                       "compare plans."},
    HintRow{.name = "nacre_learn",
            .kind = HintKind::choice,
            .default_value = "enable",
            .choices = "enable|disable",
            .meaning = "Whether observed times of blocking collective calls correct the predicted "
                       "times of later ones, so that their plan may change; and whether ranks that "
                       "repeat a direct call access the file before they agree."},
    HintRow{.name = "nacre_pattern",
            .kind = HintKind::choice,
            .default_value = "automatic",
            .choices = "automatic|even|stripes|osts",
            .meaning =
                "File domains of the aggregators in two_phase on a striped file. osts: the stripes "
                "on nacre_osts_per_aggregator OSTs. stripes: blocks of nacre_osts_per_aggregator "
                "stripes, dealt in turn. even: one contiguous range each. automatic: osts; on a "
                "file with one stripe, even. Where it is predicted to be faster, stripes for a "
                "write or even for a read."},
    HintRow{.name = "nacre_osts_per_aggregator",
            .kind = HintKind::count,
            .default_value = "1",
            .minimum = 1,
            .meaning = "Number of OSTs that each aggregator accesses (see nacre_pattern). An "
                       "aggregator accesses more OSTs if there are too few aggregators."},
    HintRow{.name = "nacre_ost_sharing",
            .kind = HintKind::choice,
            .default_value = "turns",
            .choices = "turns|ranges",
            .meaning = "How aggregators divide the stripes of OSTs that they share. turns: stripe "
                       "by stripe, in turn. ranges: each aggregator has one range of the file."},
    HintRow{.name = "nacre_layout",
            .kind = HintKind::layout,
            .time = open,
            .meaning = "Layout of a new file on Lustre or CephFS, as options of lfs setstripe: "
                       "\"-c 8 -S 4m\", or, on Lustre, \"-E 64m -c 1 -E -1 -c 16\" for a layout "
                       "that grows with the file. Overrides the striping hints."},
    HintRow{.name = "nacre_choose_layout",
            .kind = HintKind::choice,
            .time = open,
            .default_value = "automatic",
            .choices = "automatic|enable|disable|replace",
            .meaning =
                "Whether Nacre chooses the layout of a new file on Lustre, at its first write. "
                "automatic: if neither the directory nor the file system's root has a default "
                "layout. enable: if the directory has none of its own. disable: never. replace: "
                "as enable; also replaces unwritten components of a composite layout, even if a "
                "user set them."},
    HintRow{.name = "nacre_choose_layout_from",
            .kind = HintKind::bytes,
            .time = open,
            .meaning =
                "Smallest file, in bytes, whose layout Nacre chooses; a shorter file gets the "
                "default layout. If set, Nacre also chooses where the root of the file "
                "system has a default layout. Not set: no limit; nacre_choose_layout alone "
                "decides."},
    HintRow{.name = "nacre_pool",
            .kind = HintKind::text,
            .time = open,
            .meaning = "OST pool of a new file on Lustre, data pool of a new file on CephFS."},
    HintRow{.name = "nacre_saturation_bytes",
            .kind = HintKind::bytes,
            .minimum = 1,
            .meaning =
                "Bytes per call that saturate one aggregator: a call with more bytes uses "
                "more aggregators. Not set: the figure of the machine file, otherwise 256 KiB on "
                "local file systems and 32 MiB on all others."},
    HintRow{.name = "nacre_sole_writer",
            .kind = HintKind::boolean,
            .default_value = "false",
            .meaning =
                "true: the program promises that nothing else writes the file during a write "
                "through this file handle: no other process, thread or handle. Nacre may then read "
                "and write back the gaps between close pieces of independent writes, if the file "
                "is open for reading too."},
    HintRow{.name = "nacre_coherence",
            .kind = HintKind::choice,
            .default_value = "automatic",
            .choices = "automatic|trusted|locked",
            .meaning =
                "Whether accesses hold a byte-range lock. locked: every access does, which makes "
                "NFS clients see each other's writes. trusted: none does. automatic: locked if the "
                "clients of the file system cache data without keeping it coherent."},
    HintRow{.name = "nacre_write_locks",
            .kind = HintKind::choice,
            .default_value = "usual",
            .choices = "usual|narrow|ahead|group",
            .meaning =
                "Locks on Lustre when aggregators on several nodes write to the same OSTs. usual: "
                "as Lustre grants them. narrow: each write locks only its own bytes. ahead: the "
                "same, and each aggregator requests its locks before it writes (lockahead). group: "
                "the aggregators share a group lock, in blocking collective calls below "
                "MPI_THREAD_MULTIPLE."},
    HintRow{.name = "nacre_cycle_buffers",
            .kind = HintKind::choice,
            .default_value = "automatic",
            .choices = "automatic|2|3|4|6|8|12|16",
            .meaning =
                "Buffers per aggregator, of cb_buffer_size bytes each: so many rounds of a "
                "collective call are in flight at the same time. automatic: 2 on "
                "local file systems, otherwise 8 MiB in 3 to 8 buffers; at most as many as the "
                "call has rounds, but at least 2."},
    HintRow{.name = "nacre_io_threads",
            .kind = HintKind::choice,
            .default_value = "automatic",
            .choices = "automatic|0|1|2|3|4|6|8|12|16",
            .meaning =
                "Threads per process that access files while the aggregators exchange the next "
                "round. They make no MPI calls. 0: the aggregator itself accesses the file. "
                "automatic: 0 on local file systems, otherwise one per cycle buffer; but only one "
                "to read contiguous rounds, which file systems read ahead, and to write where the "
                "kernel admits one writer per file at a time (FUSE, CephFS, OrangeFS, NFS)."},
    HintRow{.name = "nacre_report",
            .kind = HintKind::text,
            .meaning =
                "File to which rank 0 appends one line of JSON for each file that is closed: "
                "calls, bytes and times of all ranks. `nacre report` and `nacre explain` read it. "
                "Not set: no report."},
    // Reserved by MPI-4.1, 14.2.8.
    HintRow{.name = "collective_buffering",
            .kind = HintKind::boolean,
            .default_value = "true",
            .meaning = "Whether ranks exchange the data of collective calls. false: each rank "
                       "accesses the file by itself."},
    HintRow{.name = "cb_nodes",
            .kind = HintKind::count,
            .minimum = 1,
            .meaning = "Number of aggregators. Not set: Nacre chooses it for each call."},
    HintRow{.name = "cb_buffer_size",
            .kind = HintKind::bytes,
            .minimum = 1,
            .meaning = "Bytes that an aggregator reads or writes in one round, at most 1g. Not "
                       "set: Nacre chooses it for each call."},
    HintRow{.name = "filename",
            .kind = HintKind::output,
            .time = open,
            .meaning = "Name of the open file. Nacre sets it for MPI_File_get_info and ignores it "
                       "as input."},
    HintRow{.name = "file_perm",
            .kind = HintKind::permissions,
            .time = open,
            .meaning = "Permissions of a new file in octal, before the umask, for example 640. Not "
                       "set: 666."},
    HintRow{.name = "striping_factor",
            .kind = HintKind::count,
            .time = open,
            .minimum = -1,
            .meaning = "Number of stripes of a new file on Lustre or CephFS; -1: one on each OST, "
                       "on CephFS the default. For an open file MPI_File_get_info returns the "
                       "actual number."},
    HintRow{.name = "striping_unit",
            .kind = HintKind::bytes,
            .time = open,
            .meaning = "Stripe size of a new file on Lustre or CephFS in bytes, rounded up to a "
                       "multiple of 64k. For an open file MPI_File_get_info returns the actual "
                       "size."},
    HintRow{.name = "start_iodevice",
            .kind = HintKind::count,
            .time = open,
            .minimum = -1,
            .meaning = "Index of the OST of the first stripe of a new file on Lustre; -1: any. For "
                       "an open file MPI_File_get_info returns the actual index."},
    HintRow{.name = "overstriping_ratio",
            .kind = HintKind::count,
            .time = open,
            .minimum = 1,
            .meaning = "Factor by which striping_factor is multiplied for a new file on Lustre: "
                       "several stripes on one OST."},
    HintRow{.name = "overstriping_factor",
            .kind = HintKind::count,
            .time = open,
            .minimum = 1,
            .meaning = "Cray's name of overstriping_ratio."},
    HintRow{.name = "cray_cb_write_lock_mode",
            .kind = HintKind::choice,
            .default_value = "0",
            .choices = "0|1|2",
            .meaning = "Cray's form of nacre_write_locks. 0: usual. 1: group. 2: ahead."},
    // ROMIO's, which programs and sites pass already.
    HintRow{.name = "romio_cb_read",
            .kind = HintKind::choice,
            .default_value = "automatic",
            .choices = automatic,
            .meaning = "Whether ranks exchange the data of collective reads. enable: always. "
                       "disable: never. automatic: Nacre chooses for each call."},
    HintRow{.name = "romio_cb_write",
            .kind = HintKind::choice,
            .default_value = "automatic",
            .choices = automatic,
            .meaning = "The same as romio_cb_read, for collective writes."},
    HintRow{.name = "romio_ds_read",
            .kind = HintKind::choice,
            .default_value = "automatic",
            .choices = automatic,
            .meaning = "Whether reads may fetch the gaps between pieces (data sieving). disable: "
                       "never. enable, automatic: if the pieces are close."},
    HintRow{.name = "romio_ds_write",
            .kind = HintKind::choice,
            .default_value = "automatic",
            .choices = automatic,
            .meaning = "Whether writes may read gaps and write them back (data sieving). disable: "
                       "never. enable, automatic: if nacre_sole_writer is true."},
    HintRow{.name = "ind_rd_buffer_size",
            .kind = HintKind::bytes,
            .default_value = "4194304",
            .minimum = 1,
            .meaning = "Largest read in data sieving, in bytes, and size of its buffer, at most "
                       "1g."},
    HintRow{.name = "ind_wr_buffer_size",
            .kind = HintKind::bytes,
            .default_value = "524288",
            .minimum = 1,
            .meaning = "The same as ind_rd_buffer_size, for writes."},
    HintRow{.name = "direct_read",
            .kind = HintKind::boolean,
            .time = open,
            .default_value = "false",
            .meaning = "true: reads of whole pages into page-aligned memory bypass the page cache "
                       "(O_DIRECT)."},
    HintRow{.name = "direct_write",
            .kind = HintKind::boolean,
            .time = open,
            .default_value = "false",
            .meaning = "true: writes of whole pages from page-aligned memory bypass the page cache "
                       "(O_DIRECT), such as the rounds of collective calls."},
    // Accepted for programs that set them.
    ignored_hint("access_style", HintKind::text, always, of_each_call),
    ignored_hint("cb_block_size", HintKind::bytes, always, of_each_call),
    ignored_hint("chunked", HintKind::text, always, of_each_call),
    ignored_hint("chunked_item", HintKind::text, always, of_each_call),
    ignored_hint("chunked_size", HintKind::text, always, of_each_call),
    ignored_hint("io_node_list", HintKind::text, open, of_placement),
    ignored_hint("nb_proc", HintKind::count, open, of_placement),
    ignored_hint("num_io_nodes", HintKind::count, open, of_placement),
    ignored_hint("cb_config_list", HintKind::text, open, of_placement),
    ignored_hint("romio_no_indep_rw", HintKind::boolean, open,
                 "Nacre has no use for it; each rank opens a file only when it accesses the file."),
};

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// How many letters must be inserted, removed or replaced to get from one word to the other.
std::size_t changed_letters(std::string_view from, std::string_view to) {
  // From the letters of `from` so far to each prefix of `to`.
  std::vector<std::size_t> changes(to.size() + 1);
  std::iota(changes.begin(), changes.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t replaced = std::exchange(changes[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t here = replaced + (from[i] == to[j] ? 0 : 1);
      replaced =
          std::exchange(changes[j + 1], std::min({here, changes[j] + 1, changes[j + 1] + 1}));
    }
  }
  return changes.back();
}

Error bad_value(const HintRow& row, std::string_view value, const std::string& right) {
  return Error{ErrorClass::info_value, 0,
               "hint " + std::string(row.name) + " has the value \"" + std::string(value) +
                   "\"; it takes " + right};
}

Result<std::string> checked_boolean(const HintRow& row, std::string_view value) {
  const std::string word = lower(value);
  if (word == "true" || word == "enable" || word == "1" || word == "yes") return "true"s;
  if (word == "false" || word == "disable" || word == "0" || word == "no") return "false"s;
  return bad_value(row, value, "true or false");
}

Result<std::string> checked_number(const HintRow& row, std::string_view value) {
  const bool bytes = row.kind == HintKind::bytes;
  const auto parsed =
      bytes ? parse_scaled_number<std::int64_t>(value) : parse_number<std::int64_t>(value);
  if (parsed && *parsed >= row.minimum) return std::to_string(*parsed);
  return bad_value(row, value,
                   "a whole number of at least " + std::to_string(row.minimum) +
                       (bytes ? ", in bytes or with k, m, g or t for powers of 1024" : ""));
}

Result<std::string> checked_choice(const HintRow& row, std::string_view value) {
  const std::string word = lower(value);
  if (std::ranges::count(split(row.choices, '|'), word) > 0) return word;
  return bad_value(row, value, "one of " + std::string(row.choices));
}

Result<std::string> checked_permissions(const HintRow& row, std::string_view value) {
  const auto bits = parse_number<unsigned>(value, 8);
  if (bits && *bits <= 0777) return std::string(value);
  return bad_value(row, value, "permissions in octal, 0 to 777");
}

Result<std::string> checked_groups(const HintRow& row, std::string_view value) {
  const std::string word = lower(value);
  if (parse_groups(word)) return word;
  return bad_value(row, value, std::string(group_hint_grammar()));
}

Result<std::string> checked_layout(const HintRow& row, std::string_view value) {
  const auto layout = plan::parse_stripe_options(value);
  if (layout) return std::string(value);
  return bad_value(row, value, "options of lfs setstripe; " + layout.error().message);
}

constexpr std::array kind_names{"boolean", "count",  "bytes", "choice", "permissions",
                                "groups",  "layout", "text",  "output"};  // by HintKind

std::string as_json(const HintRow& row) {
  const bool is_output = row.kind == HintKind::output;
  return JsonObject()
      .add_text("name", row.name)
      .add_text("variable", is_output ? "" : environment_name(row.name))
      .add_text("kind", kind_names[static_cast<std::size_t>(row.kind)])
      .add_number("minimum", row.minimum)
      .add_text("choices", row.choices)
      .add_text("default", row.default_value)
      .add_text("time", row.time == open ? "open" : "always")
      .add_text("meaning", row.meaning)
      .add("used", row.has_effect ? "true" : "false")
      .text();
}

}  // namespace

std::span<const HintRow> hint_table() { return table; }

const HintRow* find_hint(std::string_view name) {
  const auto found = std::ranges::find(table, name, &HintRow::name);
  return found == table.end() ? nullptr : &*found;
}

const HintRow* likely_hint(std::string_view name) {
  constexpr std::size_t changes_max = 2;
  if (name.size() <= 2 * changes_max) return nullptr;
  const HintRow* likely = nullptr;
  std::size_t fewest = changes_max + 1;
  for (const HintRow& row : table) {
    const std::size_t changes = changed_letters(name, row.name);
    if (changes < fewest) {
      likely = &row;
      fewest = changes;
    }
  }
  return likely;
}

std::string environment_name(std::string_view hint) {
  constexpr std::string_view prefix = "nacre_";
  if (hint.starts_with(prefix)) hint.remove_prefix(prefix.size());
  std::string name = "NACRE_";
  for (const unsigned char c : hint) name += static_cast<char>(std::toupper(c));
  return name;
}

Result<std::string> checked_value(const HintRow& row, std::string_view value) {
  const std::string_view word = trimmed(value);
  switch (row.kind) {
    case HintKind::boolean:
      return checked_boolean(row, word);
    case HintKind::count:
    case HintKind::bytes:
      return checked_number(row, word);
    case HintKind::choice:
      return checked_choice(row, word);
    case HintKind::permissions:
      return checked_permissions(row, word);
    case HintKind::groups:
      return checked_groups(row, word);
    case HintKind::layout:
      return checked_layout(row, word);
    case HintKind::text:
      return std::string(value);
    case HintKind::output:
      return bad_value(row, value, "no value: Nacre sets it");
  }
  return std::string(value);
}

std::string hints_as_json() { return json_array(table, as_json); }

}  // namespace nacre::file
