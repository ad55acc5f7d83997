// FileSystem: the files of a simulated Lustre, and the store through which a process accesses them.
#ifndef NACRE_SIM_FILES_FILE_SYSTEM_H_
#define NACRE_SIM_FILES_FILE_SYSTEM_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "machine/machine.h"
#include "sim/files/namespace.h"
#include "sim/lustre/object_store.h"
#include "sim/lustre/striped_file.h"
#include "sim/time/core_queue.h"
#include "sim/time/scheduler.h"
#include "store/store.h"
#include "testing/memory_store.h"

namespace nacre::sim {

/// Whether files on the machine have layouts, as on Lustre. Otherwise the library takes the file
/// system for one in memory.
[[nodiscard]] inline bool has_layouts(const machine::Machine& machine) {
  return machine.stripe_count > 0;
}
/// What the library knows of the file system of the machine.
[[nodiscard]] store::FileSystemFacts facts_of(const machine::Machine& machine);

/// Names are flat: any string of 1 to 255 bytes names a file. An access takes the time of the
/// process (`clients` of the machine file), and then what the model of servers, locks and caches
/// says (CostModel). Layouts and errors are those of Lustre. Sizes, layouts, closes and removals
/// cost nothing. All calls block the fiber that runs.
class FileSystem {
 public:
  /// The arguments must outlive the file system. `objects`: where the bytes are. `cores`: of the
  /// computer that emulates all nodes, which serve the calls; null: nodes have their own.
  FileSystem(Scheduler& scheduler, const machine::Machine& machine, ObjectStore objects,
             CoreQueue* cores = nullptr);
  ~FileSystem();
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;

  /// The store of a process on `node`. Does not outlive the file system.
  [[nodiscard]] std::shared_ptr<store::Store> store_on(std::int32_t node);
  [[nodiscard]] CostModel& costs() { return names_.costs(); }
  /// Sets the fault of an OST, or evicts a node.
  [[nodiscard]] Status order(const FaultOrder& fault) { return names_.order(fault); }
  /// The data of a file, without the time that accesses take. no_such_file if it does not exist.
  [[nodiscard]] Result<std::shared_ptr<StripedFile>> data(const std::string& path);
  /// All bytes of a file; no_such_file if it does not exist. Takes no time.
  [[nodiscard]] Result<std::vector<std::byte>> contents(const std::string& path);

 private:
  class ProcessStore;
  class File;
  class Layouts;
  class RangeLockOfFile;
  class GroupLock;

  /// Serialises the writes to a file that pass one kernel.
  struct Turn {
    explicit Turn(Scheduler& scheduler) : ended(scheduler) {}
    bool is_taken = false;
    FiberQueue ended;
  };
  Result<InodeNumber> find(const std::string& path);
  /// Finds the file, or creates it without a layout.
  struct Found {
    InodeNumber number = 0;
    bool is_new = false;
  };
  Result<Found> find_or_create(const std::string& path, const store::OpenOptions& options);
  [[nodiscard]] Status give_layout(const Found& file, const store::OpenOptions& options,
                                   std::int32_t node);
  [[nodiscard]] Turn& turn_of(InodeNumber file, std::int32_t node);

  Scheduler& scheduler_;
  const machine::Machine& machine_;
  Namespace names_;
  CoreQueue* cores_;
  testing::MemoryStore counters_;                               // its files are not used
  std::map<std::pair<InodeNumber, std::int32_t>, Turn> turns_;  // of a file, by kernel
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_FILES_FILE_SYSTEM_H_
