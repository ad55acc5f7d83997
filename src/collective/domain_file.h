// DomainFile: rounds whose bytes lie in the cycle buffer as they lie in the file.
#ifndef NACRE_COLLECTIVE_DOMAIN_FILE_H_
#define NACRE_COLLECTIVE_DOMAIN_FILE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/extent.h"
#include "collective/round_file.h"
#include "plan/collective_plan.h"

namespace nacre::collective {

/// The rounds of the domain `domain` of a plan: plan::RoundPiece::origin says where their bytes
/// lie.
class DomainFile final : public RoundFile {
 public:
  DomainFile(const plan::CollectivePlan& plan, int domain, FileSource& source, Profiler& profiler)
      : RoundFile(source, profiler), plan_(plan), domain_(domain) {}

  [[nodiscard]] std::int64_t round_bytes(std::int64_t round) override;
  [[nodiscard]] FileJob write(std::int64_t round, std::byte* buffer,
                              const Coverage& marked) override;
  [[nodiscard]] FileJob read(std::int64_t round, std::byte* buffer) override;
  /// Short gaps included.
  [[nodiscard]] FileJob read_marked(std::int64_t round, std::byte* buffer,
                                    const Coverage& marked) override;

 private:
  void find_extents(std::int64_t round);
  void add_marked(FileJob& job, const Coverage& marked, std::int64_t bridged_bytes);

  const plan::CollectivePlan& plan_;
  int domain_;
  std::vector<Extent> extents_;  // of the round at hand
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_DOMAIN_FILE_H_
