#include "file/report/job_facts.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/bytes_of.h"
#include "collective/agreement/agreements.h"
#include "plan/nodes/node_map.h"
#include "store/system/process.h"

namespace nacre::file {
namespace {

void fold(std::span<std::byte> into, std::span<const std::byte> from) {
  HostNames all;
  HostNames more;
  std::memcpy(&all, into.data(), sizeof all);
  std::memcpy(&more, from.data(), sizeof more);
  for (const HostNames::Name& name :
       std::span(more.names).first(static_cast<std::size_t>(more.count)))
    all.add(name);
  std::memcpy(into.data(), &all, sizeof all);
}

}  // namespace

std::string job_name(const Environment& environment) {
  for (const char* variable : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"}) {
    if (const auto job = environment(variable)) return *job;
  }
  return {};
}

std::string run_name(const Environment& environment) {
  if (const auto run = environment("NACRE_RUN")) return *run;
  const auto step = environment("SLURM_STEP_ID");
  const std::string job = job_name(environment);
  if (!job.empty() && step) return job + '.' + *step;
  return store::parent_process();
}

void HostNames::add(const Name& name) {
  const auto end = names.begin() + count;
  if (std::find(names.begin(), end, name) != end || count == std::ssize(names)) return;
  names[static_cast<std::size_t>(count++)] = name;
}

std::vector<std::string> HostNames::sorted() const {
  std::vector<std::string> all;
  for (const Name& name : std::span(names).first(static_cast<std::size_t>(count))) {
    all.emplace_back(name.data());
  }
  std::ranges::sort(all);
  return all;
}

HostNames::Name own_host() {
  HostNames::Name name{};
  store::host_name().copy(name.data(), name.size() - 1);
  return name;
}

collective::Task<HostNames> gather_hosts(collective::Transport& transport) {
  HostNames hosts;
  const plan::NodeMap& nodes = transport.nodes();
  const bool is_lowest = nodes.lowest_rank_on(nodes.node_of(transport.rank())) == transport.rank();
  if (is_lowest) hosts.add(own_host());
  auto gathering = collective::reduce(transport, bytes_of(hosts), &fold);
  co_await gathering;
  co_return hosts;
}

}  // namespace nacre::file
