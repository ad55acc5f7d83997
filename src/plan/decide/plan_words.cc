#include "plan/decide/plan_words.h"

#include <array>

#include "plan/algorithms/algorithm_table.h"

namespace nacre::plan {
namespace {

constexpr std::array<std::string_view, 4> pattern_names{"automatic", "even", "stripes", "osts"};
static_assert(pattern_names.size() == static_cast<std::size_t>(DomainPattern::osts) + 1);
constexpr std::array<std::string_view, 4> lock_names{"usual", "narrow", "group", "ahead"};
static_assert(lock_names.size() == static_cast<std::size_t>(WriteLocks::ahead) + 1);

constexpr std::string_view direct_or_sizes =
    "With nacre_algorithm=direct each rank accesses the file by itself; cb_nodes sets the number "
    "of aggregators, cb_buffer_size the bytes of a round.";

constexpr std::array<ReasonWords, 14> reasons{{
    {"hint", "A hint sets this algorithm.",
     "Unset nacre_algorithm, collective_buffering, romio_cb_read and romio_cb_write: Nacre then "
     "chooses the algorithm for each call."},
    {"no_data", "No rank has bytes to move.", "A call without bytes leaves nothing to choose."},
    {"large_pieces",
     "The pieces in the file are so long that an exchange between ranks would cost more than it "
     "saves.",
     "With nacre_algorithm=two_phase ranks exchange the pieces through aggregators."},
    {"shared_objects",
     "The pieces are long, but pieces of several nodes interleave or share a stripe, and such "
     "accesses to the same objects would cost more than an exchange between ranks.",
     "With nacre_algorithm=direct each rank accesses the file by itself."},
    {"single_rank", "Only one rank has data, so there are no pieces of other ranks to combine.",
     "With nacre_algorithm=two_phase aggregators access the file for this rank."},
    {"interleaved",
     "The pieces are short and the ranks' ranges of the file overlap, so aggregators combine the "
     "pieces of many ranks.",
     direct_or_sizes},
    {"small_pieces",
     "The pieces are short and each rank has a range of its own, so aggregators combine the "
     "pieces.",
     direct_or_sizes},
    {"no_memory",
     "A rank could not allocate the cycle buffers of an exchange, so each rank accesses the file "
     "by itself.",
     "Use fewer or smaller cycle buffers (cb_nodes, cb_buffer_size, nacre_cycle_buffers), or give "
     "the job more memory."},
    {"no_size",
     "The file reports no size (it is empty, a device, or generated while it is read), so each "
     "rank reads by itself.",
     "No hint changes this: an exchange must know where the file ends."},
    {"unordered_view",
     "The view of a rank goes backwards in the file or visits bytes twice, so each rank accesses "
     "its pieces in the order of its view.",
     "Use filetypes whose displacements increase."},
    {"locked",
     "Each rank locks its range during the access, because the file is in atomic mode or the "
     "clients of its file system do not keep their caches coherent.",
     "Leave atomic mode with MPI_File_set_atomicity(file, 0). Outside atomic mode "
     "nacre_coherence=trusted removes the locks; use it only if no two nodes share bytes."},
    {"cost", "By the predicted times this plan is the best on this machine.",
     "nacre_algorithm sets another algorithm, cb_nodes another number of aggregators, and "
     "cb_buffer_size another size of rounds."},
    {"observed",
     "Earlier calls like this one took far longer than predicted, and with the machine's figures "
     "corrected by them this plan has the shortest predicted time.",
     "With nacre_learn=disable observed times change no plan."},
    {"cached",
     "These aggregators wrote the bytes through this open file, so their nodes still have them in "
     "their caches, with the locks.",
     direct_or_sizes},
}};
static_assert(reasons.size() == static_cast<std::size_t>(PlanReason::cached) + 1);

constexpr std::array<CountWords, 8> count_reasons{{
    {"hint", "set by cb_nodes"},
    {"saturation", "as many as the bytes saturate"},
    {"most",
     "the maximum on these nodes and this file system, although the bytes would saturate more"},
    {"ranks", "one per rank, although the bytes would saturate more"},
    {"blocks", "at most one per block of the file system or stripe"},
    {"osts", "limited, because more aggregators would not divide the OSTs more evenly"},
    {"groups",
     "one per group of ranks, where groups are split and joined until each saturates one "
     "aggregator"},
    {"cost", "the number with the shortest predicted time on this machine"},
}};
static_assert(count_reasons.size() == static_cast<std::size_t>(CountReason::cost) + 1);

}  // namespace

std::string_view name_of(Algorithm algorithm) {
  return algorithm == Algorithm::automatic ? "automatic" : row_of(algorithm).name;
}
std::string_view name_of(DomainPattern pattern) {
  return pattern_names[static_cast<std::size_t>(pattern)];
}
std::string_view name_of(WriteLocks locks) { return lock_names[static_cast<std::size_t>(locks)]; }
ReasonWords words_of(PlanReason reason) { return reasons[static_cast<std::size_t>(reason)]; }
CountWords words_of(CountReason reason) { return count_reasons[static_cast<std::size_t>(reason)]; }

}  // namespace nacre::plan
