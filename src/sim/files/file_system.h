// FileSystem: the files of a simulated Lustre, and the store through which a process accesses them.
#ifndef NACRE_SIM_FILES_FILE_SYSTEM_H_
#define NACRE_SIM_FILES_FILE_SYSTEM_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "machine/machine.h"
#include "sim/lustre/object_store.h"
#include "sim/lustre/range_locks.h"
#include "sim/lustre/striped_file.h"
#include "sim/time/scheduler.h"
#include "store/store.h"
#include "testing/memory_store.h"

namespace nacre::sim {

/// What the library knows of a mount of Lustre.
[[nodiscard]] store::FileSystemFacts lustre_facts();

/// Names are flat: any non-empty string names a file. An access takes the time of the process
/// (`clients` of the machine file), and then what the model of servers, locks and caches says
/// (CostModel). Layouts and errors are those of Lustre. Sizes, layouts, closes and removals cost
/// nothing. All calls block the fiber that runs.
class FileSystem {
 public:
  /// The arguments must outlive the file system. `objects`: where the bytes are.
  FileSystem(Scheduler& scheduler, const machine::Machine& machine, ObjectStore objects);
  ~FileSystem();
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;

  /// The store of a process on `node`. Does not outlive the file system.
  [[nodiscard]] std::shared_ptr<store::Store> store_on(std::int32_t node);
  [[nodiscard]] CostModel& costs() { return striping_.costs; }
  /// Sets the fault of an OST, or evicts a node.
  [[nodiscard]] Status order(const FaultOrder& fault) { return striping_.order(fault); }
  /// The data of a file, without the time that accesses take. Null if it does not exist.
  [[nodiscard]] StripedFile* data(const std::string& path);
  /// All bytes of a file; no_such_file if it does not exist. Takes no time.
  [[nodiscard]] Result<std::vector<std::byte>> contents(const std::string& path);

 private:
  class ProcessStore;
  class File;
  class Layouts;
  class RangeLockOfFile;
  class GroupLock;

  /// Serialises the writes of the processes of a node to a file.
  struct Turn {
    explicit Turn(Scheduler& scheduler) : ended(scheduler) {}
    bool is_taken = false;
    FiberQueue ended;
  };
  struct Inode {
    Inode(Striping& striping, std::uint64_t its_number)
        : number(its_number), data(striping, its_number), locks(striping.timing) {}
    std::uint64_t number;
    StripedFile data;
    RangeLocks locks;
    std::map<std::int32_t, Turn> turns;            // by node
    std::map<std::int32_t, std::int64_t> writers;  // opens for writing, by node
  };

  Result<std::shared_ptr<Inode>> find_or_create(const std::string& path,
                                                const store::OpenOptions& options);
  [[nodiscard]] Status give_layout(Inode& inode, const store::OpenOptions& options, bool is_new,
                                   std::int32_t node);

  Scheduler& scheduler_;
  const machine::Machine& machine_;
  Striping striping_;
  testing::MemoryStore counters_;  // its files are not used
  std::map<std::string, std::shared_ptr<Inode>> files_;
  std::uint64_t next_inode_ = 1;
};

}  // namespace nacre::sim

#endif  // NACRE_SIM_FILES_FILE_SYSTEM_H_
