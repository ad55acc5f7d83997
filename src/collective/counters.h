// What a data access did, counted for reports.
#ifndef NACRE_COLLECTIVE_COUNTERS_H_
#define NACRE_COLLECTIVE_COUNTERS_H_

#include <cstdint>

namespace nacre::collective {

/// Of one rank and one call. Bytes unless named otherwise.
struct Counters {
  std::int64_t file_bytes = 0;     ///< moved to or from the file by this rank
  std::int64_t file_calls = 0;     ///< reads or writes of the store
  std::int64_t message_bytes = 0;  ///< sent to other ranks
  std::int64_t message_count = 0;  ///< sent to other ranks
  std::int64_t round_count = 0;    ///< that this rank, as an aggregator, went through
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_COUNTERS_H_
