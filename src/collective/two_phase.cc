#include "collective/two_phase.h"

#include <optional>
#include <utility>

#include "collective/domain_file.h"
#include "collective/domain_side.h"
#include "collective/local_side.h"
#include "collective/user_side.h"
#include "collective/view_exchange.h"

namespace nacre::collective {
namespace {

/// A rank's rounds: fulfilled when none is left.
class Rounds final : public Condition {
 public:
  Rounds(LocalSide& local, UserSide& user, DomainSide* domain)
      : local_(local), user_(user), domain_(domain) {}

  bool ready(Transport&) override {
    bool moved = true;
    while (moved) {
      moved = local_.step();
      moved = user_.step() || moved;
      moved = (domain_ != nullptr && domain_->step()) || moved;
    }
    return local_.done() && user_.done() && (domain_ == nullptr || domain_->done());
  }
  [[nodiscard]] bool takes_all() const override { return false; }

 private:
  LocalSide& local_;
  UserSide& user_;
  DomainSide* domain_;
};

}  // namespace

Task<TwoPhaseResult> run_two_phase(Transport& transport, const CollectiveFile& file,
                                   const plan::CollectivePlan& plan, const TwoPhaseAccess& access) {
  Task<Unit> beginning = file.rounds.begin_call(transport, plan);
  co_await beginning;
  Task<ExchangePartners> exchange = exchange_views(transport, file, plan, access.file);
  ExchangePartners partners = co_await exchange;
  access.profiler.enter(Phase::copy);
  UserSide user(transport, access, std::move(partners.aggregators));
  std::optional<DomainFile> domain_file;
  std::optional<DomainSide> domain;
  const std::optional<int> self =
      plan::aggregator_of_rank(plan, transport.rank(), transport.size());
  if (self) {
    domain_file.emplace(plan, *self, file.source, access.profiler);
    const DomainSide::Domain domain_here{access.direction, plan,
                                         *file.rounds.number_of_aggregator(*self), access.profiler,
                                         file.io_thread_count};
    domain.emplace(transport, domain_here, file.rounds, std::move(partners.sources), *domain_file);
  }
  LocalSide local(transport, access, plan, file.rounds);
  Rounds rounds(local, user, domain ? &*domain : nullptr);
  co_await Until{rounds};
  TwoPhaseResult result;
  if (domain_file) {
    result.status = domain_file->status();
    result.file_end = domain_file->file_end_seen();
  }
  co_return result;
}

}  // namespace nacre::collective
