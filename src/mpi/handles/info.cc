#include "mpi/handles/info.h"

#include <array>
#include <cstddef>

namespace nacre::mpi {

InfoPairs info_pairs(MPI_Info info) {
  const Native& mpi = native();
  InfoPairs pairs;
  if (info == mpi.INFO_NULL) return pairs;
  int count = 0;
  if (mpi.Info_get_nkeys(info, &count) != MPI_SUCCESS) return pairs;
  for (int i = 0; i < count; ++i) {
    std::array<char, MPI_MAX_INFO_KEY + 1> key{};
    mpi.Info_get_nthkey(info, i, key.data());
    int length = 0;
    int found = 0;
    mpi.Info_get_valuelen(info, key.data(), &length, &found);
    if (found == 0) continue;
    std::vector<char> value(static_cast<std::size_t>(length) + 1);
    mpi.Info_get(info, key.data(), length, value.data(), &found);
    if (found != 0) pairs.emplace_back(key.data(), value.data());
  }
  return pairs;
}

MPI_Info make_info(const InfoPairs& pairs) {
  const Native& mpi = native();
  MPI_Info info = mpi.INFO_NULL;
  mpi.Info_create(&info);
  for (const auto& [key, value] : pairs) {
    if (key.size() < MPI_MAX_INFO_KEY && !value.empty() && value.size() < MPI_MAX_INFO_VAL) {
      mpi.Info_set(info, key.c_str(), value.c_str());
    }
  }
  return info;
}

}  // namespace nacre::mpi
