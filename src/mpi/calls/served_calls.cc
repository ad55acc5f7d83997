#include "mpi/calls/served_calls.h"

#include <atomic>

#include "file/hints/hints.h"
#include "nacre/nacre.h"

namespace nacre::mpi {
namespace {
std::atomic<std::uint64_t> served = 0;
}  // namespace

void count_served_call() { served.fetch_add(1, std::memory_order_relaxed); }

std::uint64_t served_call_count() { return served.load(std::memory_order_relaxed); }

}  // namespace nacre::mpi

extern "C" {

const char* nacre_version(void) { return NACRE_VERSION; }

unsigned long long nacre_calls_served(void) { return nacre::mpi::served_call_count(); }

const char* nacre_hints_json(void) {
  static const std::string* json = new std::string(nacre::file::hints_as_json());
  return json->c_str();
}

}  // extern "C"
