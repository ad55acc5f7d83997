#include "store/random_bits.h"

#include <random>

#include <unistd.h>

namespace nacre::store {

std::uint64_t random_bits() {
  std::uint64_t bits = 0;
  if (getentropy(&bits, sizeof bits) == 0) return bits;
  std::random_device device;  // a kernel before 3.17
  return (std::uint64_t{device()} << 32U) | device();
}

}  // namespace nacre::store
