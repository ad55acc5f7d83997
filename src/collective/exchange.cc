#include "collective/exchange.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "collective/domain_file.h"
#include "collective/domain_side.h"
#include "collective/local_side.h"
#include "collective/segment_file.h"
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

/// How the rounds of aggregator `self` come to the file.
std::unique_ptr<RoundFile> file_of_rounds(const CollectiveFile& file,
                                          const plan::CollectivePlan& plan, int self,
                                          std::vector<Segment> segments) {
  if (plan.algorithm == plan::Algorithm::static_segmentation) {
    return std::make_unique<SegmentFile>(std::move(segments), file.source, file.profiler);
  }
  return std::make_unique<DomainFile>(plan, plan::domain_of(plan, self), file.source,
                                      file.profiler);
}

}  // namespace

Task<ExchangeResult> run_exchange(Transport& transport, const CollectiveFile& file,
                                  const ExchangePlan& exchange, const ExchangeAccess& access) {
  Task<Unit> beginning = file.rounds.begin_call(transport, exchange, file.cycle_buffer_count);
  co_await beginning;
  Task<ExchangePartners> meeting = exchange_views(transport, file, exchange, access);
  ExchangePartners partners = co_await meeting;
  access.profiler.enter(Phase::copy);
  UserSide user(transport, access, std::move(partners.aggregators));
  std::unique_ptr<RoundFile> round_file;
  std::unique_ptr<DomainSide> domain;
  if (const auto self = exchange.aggregators.of_rank(transport.rank())) {
    round_file = file_of_rounds(file, exchange.plan, *self, std::move(partners.segments));
    const DomainSide::Domain domain_here{access.direction, exchange.plan,
                                         *file.rounds.number_of_aggregator(*self), access.profiler,
                                         file.io_thread_count};
    domain = make_domain_side(transport, domain_here, file.rounds, std::move(partners.sources),
                              *round_file);
  }
  LocalSide local(transport, access, exchange, file.rounds);
  Rounds rounds(local, user, domain.get());
  co_await Until{rounds};
  ExchangeResult result;
  if (round_file != nullptr) {
    result.status = round_file->status();
    result.file_end = round_file->file_end_seen();
  }
  co_return result;
}

}  // namespace nacre::collective
