#include "collective/two_phase.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "collective/cycle_buffer.h"
#include "collective/domain_side.h"
#include "collective/group.h"
#include "collective/user_side.h"
#include "collective/view_exchange.h"

namespace nacre::collective {
namespace {

Task<Unit> write_round(std::int64_t round, UserSide& user, DomainSide* domain) {
  if (domain != nullptr) domain->start_writing(round);
  user.start_round(round);
  if (domain != nullptr) {
    do {
      co_await AllOf{domain->messages()};
    } while (!domain->fill());
    domain->end_writing();
  }
  co_await AllOf{user.messages()};
  co_return Unit{};
}

Task<Unit> read_round(std::int64_t round, UserSide& user, DomainSide* domain) {
  user.start_round(round);
  if (domain != nullptr) {
    domain->start_reading(round);
    bool all_sent = false;
    while (!all_sent) {
      all_sent = domain->send();
      co_await AllOf{domain->messages()};
    }
  }
  co_await AllOf{user.messages()};
  user.finish_round();
  co_return Unit{};
}

}  // namespace

Task<TwoPhaseResult> run_two_phase(Transport& transport, const CollectiveFile& file,
                                   const plan::CollectivePlan& plan, const TwoPhaseAccess& access) {
  Task<ExchangePartners> exchange = exchange_views(transport, file.views, plan, access.file);
  ExchangePartners partners = co_await exchange;
  access.profiler.enter(Phase::copy);
  UserSide user(transport, access, std::move(partners.aggregators));
  std::optional<CycleBuffer> buffer;
  std::optional<DomainSide> domain_here;
  if (!partners.sources.empty()) {
    const int self = *plan::aggregator_of_rank(plan, transport.rank(), transport.size());
    buffer.emplace(plan, self, access.direction, file.source, access.profiler);
    domain_here.emplace(transport, access, std::move(partners.sources), *buffer,
                        plan::round_bytes_max(plan));
  }
  DomainSide* const domain = domain_here ? &*domain_here : nullptr;
  while (true) {
    std::int64_t round = user.next_round();
    if (domain != nullptr) round = std::min(round, domain->next_round());
    if (round == RoundQueue::no_round) break;
    access.profiler.profile().rounds.add(1);
    Task<Unit> exchange_round =
        access.reads() ? read_round(round, user, domain) : write_round(round, user, domain);
    co_await exchange_round;
  }
  TwoPhaseResult result;
  if (buffer) {
    result.status = buffer->status();
    result.file_end = buffer->file_end_seen();
  }
  co_return result;
}

}  // namespace nacre::collective
