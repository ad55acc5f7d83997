// MPI_Info as pairs of strings, and back.
#ifndef NACRE_MPI_HANDLES_INFO_H_
#define NACRE_MPI_HANDLES_INFO_H_

#include <string>
#include <utility>
#include <vector>

#include "mpi/abi/native.h"

namespace nacre::mpi {

using InfoPairs = std::vector<std::pair<std::string, std::string>>;

/// The pairs of `info`, none for MPI_INFO_NULL. Local.
[[nodiscard]] InfoPairs info_pairs(MPI_Info info);

/// A new info, which the caller frees. Omits pairs that are longer than the MPI allows.
[[nodiscard]] MPI_Info make_info(const InfoPairs& pairs);

}  // namespace nacre::mpi

#endif  // NACRE_MPI_HANDLES_INFO_H_
