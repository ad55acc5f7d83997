#include "collective/rounds/marked_runs.h"

#include <algorithm>

#include "base/checked_cast.h"

namespace nacre::collective {
namespace {

template <class Visit>
void for_each_run(const Coverage& marked, Visit visit) {
  for (Extent run = marked.next(0); !run.empty(); run = marked.next(run.end())) visit(run);
}

}  // namespace

MarkedRuns measure(const Coverage& marked) { return {marked.hull(), marked.count()}; }

void pack_marked(const Coverage& marked, const std::byte* buffer, std::span<std::byte> packed) {
  for_each_run(marked, [&](const Extent& run) {
    std::copy_n(buffer + run.offset, run.length, packed.begin());
    packed = packed.subspan(checked_cast<std::size_t>(run.length));
  });
}

void unpack_marked(const Coverage& marked, std::byte* buffer, std::span<const std::byte> packed) {
  for_each_run(marked, [&](const Extent& run) {
    std::copy_n(packed.begin(), run.length, buffer + run.offset);
    packed = packed.subspan(checked_cast<std::size_t>(run.length));
  });
}

}  // namespace nacre::collective
