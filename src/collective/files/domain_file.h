// DomainFile: rounds whose bytes lie in the cycle buffer as they lie in the file.
#ifndef NACRE_COLLECTIVE_FILES_DOMAIN_FILE_H_
#define NACRE_COLLECTIVE_FILES_DOMAIN_FILE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collective/files/round_file.h"
#include "plan/domains/file_domains.h"

namespace nacre::collective {

/// The rounds of a domain: plan::RoundPiece::origin says where their bytes lie. `domains` outlive
/// it.
class DomainFile final : public RoundFile {
 public:
  DomainFile(const plan::FileDomains& domains, int domain, FileSource& source, Profiler& profiler)
      : RoundFile(source, profiler),
        domains_(domains),
        domain_(domain),
        round_count_(domains.round_count_of(domain)) {}

  [[nodiscard]] bool has_round(std::int64_t round) override { return round < round_count_; }
  [[nodiscard]] std::int64_t round_bytes(std::int64_t round) override;
  [[nodiscard]] FileJob write(std::int64_t round, std::byte* buffer,
                              const Coverage& marked) override;
  [[nodiscard]] FileJob read(std::int64_t round, std::byte* buffer) override;
  /// Short gaps included.
  [[nodiscard]] FileJob read_marked(std::int64_t round, std::byte* buffer,
                                    const Coverage& marked) override;

 private:
  void find_parts(std::int64_t round);
  void add_marked(FileJob& job, const Coverage& marked, std::int64_t bridged_bytes);

  const plan::FileDomains& domains_;
  int domain_;
  std::int64_t round_count_;
  std::vector<plan::FilePart> parts_;  // of the round at hand
};

}  // namespace nacre::collective

#endif  // NACRE_COLLECTIVE_FILES_DOMAIN_FILE_H_
