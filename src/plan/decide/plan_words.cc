#include "plan/decide/plan_words.h"

#include "plan/algorithms/algorithm_table.h"

namespace nacre::plan {

std::string_view name_of(Algorithm algorithm) {
  return algorithm == Algorithm::automatic ? "automatic" : row_of(algorithm).name;
}

std::string_view name_of(DomainPattern pattern) {
  switch (pattern) {
    case DomainPattern::automatic:
      return "automatic";
    case DomainPattern::even:
      return "even";
    case DomainPattern::stripes:
      return "stripes";
    case DomainPattern::osts:
      return "osts";
  }
  return {};
}

std::string_view name_of(WriteLocks locks) {
  switch (locks) {
    case WriteLocks::usual:
      return "usual";
    case WriteLocks::narrow:
      return "narrow";
    case WriteLocks::group:
      return "group";
  }
  return {};
}

ReasonWords words_of(PlanReason reason) {
  switch (reason) {
    case PlanReason::hint:
      return {"hint", "A hint asks for this algorithm.",
              "Leave nacre_algorithm, collective_buffering and romio_cb_read or romio_cb_write "
              "unset, and it is chosen for each access."};
    case PlanReason::no_data:
      return {"no_data", "No rank has anything to move.", "Nothing: there is nothing to choose."};
    case PlanReason::large_pieces:
      return {"large_pieces",
              "The pieces in the file are so long that passing them through other ranks would cost "
              "more than it saves.",
              "nacre_algorithm=two_phase exchanges all the same."};
    case PlanReason::scattered_memory:
      return {
          "scattered_memory",
          "The pieces are long in the file and short in memory, and all ranks share memory: the "
          "copy that gathers them goes straight into an aggregator's cycle buffer.",
          "nacre_algorithm=direct has each rank gather and access the file by itself."};
    case PlanReason::shared_objects:
      return {
          "shared_objects",
          "The pieces are long, but those of several nodes lie among each other or in one stripe "
          "on the same OSTs, which would take the lock from one node and give it to the next "
          "for each.",
          "nacre_algorithm=direct has each rank access the file by itself."};
    case PlanReason::single_rank:
      return {"single_rank", "Only one rank has data, so there is nobody to exchange pieces with.",
              "nacre_algorithm=two_phase deals them to aggregators all the same."};
    case PlanReason::interleaved:
      return {"interleaved",
              "The pieces are short and the ranks' ranges of the file overlap, so aggregators put "
              "pieces of many ranks together.",
              "nacre_algorithm=direct has each rank access the file by itself; cb_nodes sets the "
              "number of aggregators, cb_buffer_size the bytes of a round."};
    case PlanReason::small_pieces:
      return {"small_pieces",
              "The pieces are short, each rank in a range of its own, so aggregators put them "
              "together.",
              "nacre_algorithm=direct has each rank access the file by itself; cb_nodes sets the "
              "number of aggregators, cb_buffer_size the bytes of a round."};
    case PlanReason::no_memory:
      return {"no_memory",
              "A rank had no memory for the cycle buffers that an exchange takes, so each rank "
              "moves its own pieces.",
              "Fewer or smaller cycle buffers (cb_nodes, cb_buffer_size, nacre_cycle_buffers), a "
              "larger /dev/shm, or more memory for the job."};
    case PlanReason::no_size:
      return {"no_size",
              "The file tells no size (it is empty, a device, or made up as it is read), so each "
              "rank reads for itself what there is.",
              "No hint: an exchange has to know where the file ends."};
    case PlanReason::unordered_view:
      return {
          "unordered_view",
          "The view of a rank goes back in the file or over bytes twice, so each rank moves its "
          "own pieces in the order that it gave.",
          "A filetype whose displacements only grow."};
    case PlanReason::locked:
      return {"locked",
              "Atomic mode, or a file system whose clients cache without agreeing: each rank holds "
              "a lock on its range while it moves its pieces.",
              "MPI_File_set_atomicity(file, 0), and where that is so already nacre_coherence="
              "trusted, if no two nodes share bytes."};
  }
  return {};
}

CountWords words_of(CountReason reason) {
  switch (reason) {
    case CountReason::hint:
      return {"hint", "as cb_nodes asks for"};
    case CountReason::saturation:
      return {"saturation", "as many as the bytes keep busy"};
    case CountReason::most:
      return {"most", "the most that pay here, though the bytes would keep more busy"};
    case CountReason::ranks:
      return {"ranks", "one a rank, though the bytes would keep more busy"};
    case CountReason::blocks:
      return {"blocks", "no more, for each to have whole blocks of the file system, or stripes"};
    case CountReason::osts:
      return {"osts", "no more, since the one with most OSTs would have as many with more of them"};
    case CountReason::groups:
      return {"groups", "one for each group of ranks, split and joined until each keeps one busy"};
  }
  return {};
}

}  // namespace nacre::plan
