#include "file/hints/hint_table.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/checked_cast.h"
#include "base/json.h"
#include "base/parse_number.h"
#include "file/hints/group_hint.h"
#include "plan/layout/stripe_options.h"

namespace nacre::file {
namespace {

constexpr std::string_view automatic = "automatic|enable|disable";
constexpr HintTime always = HintTime::always;
constexpr HintTime open = HintTime::open;

constexpr std::array table{
    // Nacre's own.
    HintRow{"nacre_enable", HintKind::boolean, open, "true", 0, "",
            "false hands the file to the MPI's own I/O, untouched"},
    HintRow{"nacre_algorithm", HintKind::choice, always, "automatic", 0,
            "automatic|direct|two_phase|dynamic_segmentation|static_segmentation",
            "how collective accesses are carried out; stands above collective_buffering and "
            "romio_cb_read and _write"},
    HintRow{"nacre_groups", HintKind::groups, always, "automatic", 0, "",
            "which ranks share an aggregator in segmentation, before groups are split and joined "
            "by nacre_saturation_bytes: a grid of ranks whose rows are groups (4x4), groups of "
            "ranks (0-3/4-7+9), each: every rank by itself; automatic: by a cartesian "
            "communicator, else as the accesses lie"},
    HintRow{
        "nacre_pattern", HintKind::choice, always, "automatic", 0, "automatic|even|stripes|osts",
        "what part of a striped file is an aggregator's in two-phase: osts, the stripes on some "
        "OSTs; stripes, blocks of nacre_osts_per_aggregator stripes in turn; even, one range; "
        "automatic: osts where the file has several stripes"},
    HintRow{"nacre_osts_per_aggregator", HintKind::count, always, "1", 1, "",
            "on how many OSTs an aggregator's stripes lie, by nacre_pattern; as evenly as it goes, "
            "and on more where aggregators are fewer"},
    HintRow{"nacre_ost_sharing", HintKind::choice, always, "turns", 0, "turns|ranges",
            "how several aggregators have the stripes of the same OSTs: turns, one after the other "
            "in turn; ranges, each a range of the file"},
    HintRow{"nacre_layout", HintKind::layout, open, "", 0, "",
            "layout of a new file on Lustre in options of lfs setstripe, above the striping hints: "
            "\"-c 8 -S 4m\", or \"-E 64m -c 1 -E -1 -c 16\" for one that grows with the file"},
    HintRow{"nacre_choose_layout", HintKind::choice, open, "automatic", 0,
            "automatic|enable|disable|replace",
            "a new file on Lustre gets its layout when it is known how much is written to it: "
            "automatic, where neither its directory nor the file system's root has a default; "
            "enable, where its directory has none of its own; replace, likewise, and of a layout "
            "of several components those that nothing was written to give way to what is chosen, "
            "whoever set them"},
    HintRow{"nacre_choose_layout_from", HintKind::bytes, open, "", 0, "",
            "size of a file from which on its layout is chosen, where the root has a default too"},
    HintRow{"nacre_pool", HintKind::text, open, "", 0, "",
            "pool of OSTs that a new file on Lustre lies on"},
    HintRow{"nacre_saturation_bytes", HintKind::bytes, always, "", 1, "",
            "what an aggregator is to have in a call to be kept busy: more aggregators for more "
            "bytes; unset: by the file system"},
    HintRow{
        "nacre_sole_writer", HintKind::boolean, always, "false", 0, "",
        "true promises that nothing else, in any process or thread and through any handle, "
        "writes the file while a write of this one lasts: where it is open for reading too, "
        "independent noncontiguous writes may then read, change and write back the gaps between "
        "close pieces"},
    HintRow{"nacre_coherence", HintKind::choice, always, "automatic", 0, "automatic|trusted|locked",
            "locked: every access holds a byte-range lock, which makes NFS clients agree; "
            "trusted: none does; automatic: locked where the file system's clients cache without "
            "agreeing"},
    HintRow{
        "nacre_write_locks", HintKind::choice, always, "usual", 0, "usual|narrow|group",
        "where aggregators of several nodes write to the same OSTs of a file on Lustre: narrow, "
        "each write locks no more than it needs; group, in blocking collective calls below "
        "MPI_THREAD_MULTIPLE they hold a group lock together"},
    HintRow{
        "nacre_cycle_buffers", HintKind::choice, always, "automatic", 0,
        "automatic|2|3|4|6|8|12|16",
        "buffers of cb_buffer_size bytes that an aggregator has: so many rounds of a "
        "collective access are on their way to or from the file, or being exchanged, at once. "
        "automatic: 2 on local file systems, else as many as hold 8 MiB, from 3 to 8; no more than "
        "a call has rounds, of which 2 are counted at least"},
    HintRow{
        "nacre_io_threads", HintKind::choice, always, "automatic", 0,
        "automatic|0|1|2|3|4|6|8|12|16",
        "threads of a process that access files while its aggregators go on with the next round, "
        "each in one access at a time; they make no call of the MPI. 0: the aggregator waits for "
        "the file. automatic: 0 on local file systems, where there is little to wait for, else one "
        "for each cycle buffer"},
    HintRow{"nacre_report", HintKind::text, always, "", 0, "",
            "file to which rank 0 appends a line of JSON for each closed file: calls, bytes and "
            "time by "
            "phase of all ranks; `nacre report` and `nacre explain` read it"},
    // Reserved by MPI-4.1, 14.2.8.
    HintRow{"access_style", HintKind::text, always, "", 0, "",
            "how the file will be accessed; kept, not used"},
    HintRow{"collective_buffering", HintKind::boolean, always, "true", 0, "",
            "false: collective accesses are not exchanged between ranks"},
    HintRow{"cb_nodes", HintKind::count, always, "", 1, "",
            "number of aggregators of a collective access; unset: chosen for each access"},
    HintRow{"cb_buffer_size", HintKind::bytes, always, "", 1, "",
            "bytes that an aggregator moves in a round, 1g at most; unset: chosen for each access"},
    HintRow{"cb_block_size", HintKind::bytes, always, "", 1, "", "kept, not used"},
    HintRow{"chunked", HintKind::text, always, "", 0, "", "kept, not used"},
    HintRow{"chunked_item", HintKind::text, always, "", 0, "", "kept, not used"},
    HintRow{"chunked_size", HintKind::text, always, "", 0, "", "kept, not used"},
    HintRow{"filename", HintKind::told, open, "", 0, "",
            "the name of the open file: told to the program, ignored when it sets it"},
    HintRow{"file_perm", HintKind::permissions, open, "", 0, "",
            "permissions of a new file before the umask, e.g. 640; unset: 666"},
    HintRow{"io_node_list", HintKind::text, open, "", 0, "", "kept, not used"},
    HintRow{"nb_proc", HintKind::count, open, "", 1, "",
            "processes that will access the file; kept, not used"},
    HintRow{"num_io_nodes", HintKind::count, open, "", 1, "", "kept, not used"},
    HintRow{"striping_factor", HintKind::count, open, "", -1, "",
            "on how many OSTs a new file on Lustre lies; -1: on all. Of an open file: on how many "
            "it does"},
    HintRow{"striping_unit", HintKind::bytes, open, "", 0, "",
            "stripe size of a new file on Lustre, rounded up to a multiple of 64k. Of an open "
            "file: what it is"},
    HintRow{"start_iodevice", HintKind::count, open, "", -1, "",
            "first OST of a new file on Lustre; -1: any. Of an open file: which it is"},
    HintRow{
        "overstriping_ratio", HintKind::count, open, "", 1, "",
        "so many times striping_factor stripes of a new file on Lustre, several on an OST where "
        "there are not as many OSTs; overstriping_factor is another name of it"},
    HintRow{"overstriping_factor", HintKind::count, open, "", 1, "",
            "overstriping_ratio in Cray's words"},
    HintRow{"cray_cb_write_lock_mode", HintKind::choice, always, "0", 0, "0|1|2",
            "nacre_write_locks in Cray's words: 0, usual; 1, group; 2, narrow"},
    // ROMIO's, which programs and sites pass already.
    HintRow{"romio_cb_read", HintKind::choice, always, "automatic", 0, automatic,
            "collective reads: enable, always exchanged between ranks; disable, never"},
    HintRow{"romio_cb_write", HintKind::choice, always, "automatic", 0, automatic,
            "collective writes: enable, always exchanged between ranks; disable, never"},
    HintRow{"romio_ds_read", HintKind::choice, always, "automatic", 0, automatic,
            "disable: reads never fetch the gaps between pieces"},
    HintRow{"romio_ds_write", HintKind::choice, always, "automatic", 0, automatic,
            "disable: writes never write gaps back, whatever nacre_sole_writer says"},
    HintRow{"ind_rd_buffer_size", HintKind::bytes, always, "4194304", 1, "",
            "most bytes of a sieving read, and of its staging buffer; 1g at most"},
    HintRow{"ind_wr_buffer_size", HintKind::bytes, always, "524288", 1, "", "the same for writes"},
    HintRow{"romio_no_indep_rw", HintKind::boolean, open, "false", 0, "",
            "kept; ranks that touch no data never open the file in any case"},
    HintRow{"cb_config_list", HintKind::text, open, "", 0, "", "kept, not used"},
    HintRow{
        "direct_read", HintKind::boolean, open, "false", 0, "",
        "true: reads of whole pages into page-aligned memory go past the page cache (O_DIRECT)"},
    HintRow{"direct_write", HintKind::boolean, open, "false", 0, "",
            "the same for writes; rounds of collective accesses are such"},
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

std::optional<std::int64_t> number(std::string_view text, bool with_units) {
  return with_units ? parse_scaled_number<std::int64_t>(text) : parse_number<std::int64_t>(text);
}

Error bad_value(const HintRow& row, std::string_view value, const std::string& right) {
  return Error{ErrorClass::info_value, 0,
               "hint " + std::string(row.name) + " has the value \"" + std::string(value) +
                   "\"; it takes " + right};
}

Result<std::string> checked_boolean(const HintRow& row, std::string_view value) {
  const std::string word = lower(value);
  if (word == "true" || word == "enable" || word == "1" || word == "yes")
    return std::string("true");
  if (word == "false" || word == "disable" || word == "0" || word == "no") {
    return std::string("false");
  }
  return bad_value(row, value, "true or false");
}

Result<std::string> checked_number(const HintRow& row, std::string_view value) {
  const bool bytes = row.kind == HintKind::bytes;
  const auto parsed = number(value, bytes);
  if (parsed && *parsed >= row.least) return std::to_string(*parsed);
  return bad_value(row, value,
                   "a whole number of at least " + std::to_string(row.least) +
                       (bytes ? ", in bytes or with k, m, g or t for powers of 1024" : ""));
}

Result<std::string> checked_choice(const HintRow& row, std::string_view value) {
  const std::string word = lower(value);
  std::string_view rest = row.choices;
  while (!rest.empty()) {
    const std::size_t bar = rest.find('|');
    if (rest.substr(0, bar) == word) return word;
    rest = bar == std::string_view::npos ? "" : rest.substr(bar + 1);
  }
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

std::string_view kind_name(HintKind kind) {
  switch (kind) {
    case HintKind::boolean:
      return "boolean";
    case HintKind::count:
      return "count";
    case HintKind::bytes:
      return "bytes";
    case HintKind::choice:
      return "choice";
    case HintKind::permissions:
      return "permissions";
    case HintKind::groups:
      return "groups";
    case HintKind::layout:
      return "layout";
    case HintKind::text:
      return "text";
    case HintKind::told:
      return "told";
  }
  return "";
}

std::string as_json(const HintRow& row) {
  const bool told = row.kind == HintKind::told;
  return JsonObject()
      .add_text("name", row.name)
      .add_text("variable", told ? "" : environment_name(row.name))
      .add_text("kind", kind_name(row.kind))
      .add_number("least", row.least)
      .add_text("choices", row.choices)
      .add_text("default", row.default_value)
      .add_text("time", row.time == open ? "open" : "always")
      .add_text("meaning", row.meaning)
      .text();
}

}  // namespace

std::span<const HintRow> hint_table() { return table; }

const HintRow* find_hint(std::string_view name) {
  const auto found = std::ranges::find(table, name, &HintRow::name);
  return found == table.end() ? nullptr : &*found;
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
    case HintKind::told:
      return bad_value(row, value, "no value: Nacre tells it");
  }
  return std::string(value);
}

std::string hints_as_json() { return json_array(table, as_json); }

}  // namespace nacre::file
