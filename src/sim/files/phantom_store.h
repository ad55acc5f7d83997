// PhantomStore: files that have a size and no bytes.
#ifndef NACRE_SIM_FILES_PHANTOM_STORE_H_
#define NACRE_SIM_FILES_PHANTOM_STORE_H_

#include <memory>

#include "store/store.h"

namespace nacre::sim {

/// For an ObjectStore of a simulation without data. Any name exists; writes set the size, and reads
/// leave the memory as it is.
[[nodiscard]] std::shared_ptr<store::Store> make_phantom_store();

}  // namespace nacre::sim

#endif  // NACRE_SIM_FILES_PHANTOM_STORE_H_
