#include "mpi/abi/native.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>

#include "mpi/abi/find_mpi.h"
#include "mpi/abi/native_fill.gen.h"

namespace nacre::mpi {
namespace {

#if defined(OPEN_MPI)
constexpr Abi own_abi = Abi::openmpi;
#elif defined(MPI_ABI_VERSION)
constexpr Abi own_abi = Abi::standard;
#else
constexpr Abi own_abi = Abi::mpich;
#endif

constexpr std::array<const char*, 5> abi_names{"no MPI", "an MPI of unknown ABI", "MPICH's ABI",
                                               "Open MPI's ABI", "the standard ABI"};

std::atomic<bool> finalizing = false;
std::atomic<const Native*> resolved{nullptr};
/// Set before `resolved`.
const char* missing_function = nullptr;

const char* name_of(Abi abi) { return abi_names[static_cast<std::size_t>(abi)]; }

/// The table for a process without an MPI of this library's ABI.
const Native& stand_ins(Abi found) {
  static const Native* const table = [found] {
    std::fprintf(stderr,
                 "nacre: this library serves %s, but the process has %s: MPI-IO calls fail with "
                 "MPI_ERR_INTERN; preload libnacre.so, which loads the right library\n",
                 name_of(own_abi), name_of(found));
    auto* made = new Native{};
    fill_missing_functions(*made);
    fill_handles(
        *made, [](const void*, const char*) -> void* { return nullptr; }, nullptr, false);
    return made;
  }();
  return *table;
}

const Native* make_table(const LoadedMpi& mpi) {
  auto* made = new Native{};
  fill_missing_functions(*made);
  missing_function = fill_functions(*made, mpi_symbol, &mpi);
  int version = 0;
  int subversion = 0;
  made->Get_version(&version, &subversion);
  fill_handles(*made, mpi_data, &mpi, version >= 5);
  return made;
}

const Native& resolve() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (const Native* table = resolved.load(std::memory_order_relaxed)) return *table;
  const LoadedMpi mpi = find_mpi();
  if (mpi.abi != own_abi) return stand_ins(mpi.abi);
  const Native* table = make_table(mpi);
  resolved.store(table, std::memory_order_release);
  return *table;
}

}  // namespace

const Native& native() {
  const Native* table = resolved.load(std::memory_order_acquire);
  return table != nullptr ? *table : resolve();
}

bool world_model_active() {
  int initialized = 0;
  int finalized = 0;
  native().Initialized(&initialized);
  native().Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

bool mpi_is_finalizing() { return finalizing.load(); }

void note_finalizing() { finalizing.store(true); }

}  // namespace nacre::mpi

const char* nacre_missing_function() {
  static_cast<void>(nacre::mpi::native());
  return nacre::mpi::missing_function;
}
