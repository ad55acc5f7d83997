#include "plain_file.h"

#include <mpi.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace nacre::bench {
namespace {

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "nacre-bench worker: %s: %s\n", what, std::strerror(errno));
  MPI_Abort(MPI_COMM_WORLD, 2);
  std::abort();
}

}  // namespace

void PlainFile::open(const std::string& path, Direction direction) {
  const int mode = direction == Direction::write ? O_CREAT | O_WRONLY : O_RDONLY;
  file_ = ::open(path.c_str(), mode | O_CLOEXEC, 0644);
  if (file_ < 0) fail(path.c_str());
}

void PlainFile::move(std::int64_t offset, std::span<std::byte> bytes, Direction direction) const {
  // The request size of a two-phase aggregator. Larger requests are slower if the cache is small.
  constexpr std::size_t request = std::size_t{4} << 20;
  while (!bytes.empty()) {
    const std::size_t wish = std::min(bytes.size(), request);
    const ssize_t done = direction == Direction::write ? ::pwrite(file_, bytes.data(), wish, offset)
                                                       : ::pread(file_, bytes.data(), wish, offset);
    if (done <= 0) fail(direction == Direction::write ? "pwrite" : "pread");
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    offset += done;
  }
}

void PlainFile::close(bool sync) {
  if (sync && ::fsync(file_) != 0) fail("fsync");
  if (::close(file_) != 0) fail("close");
}

}  // namespace nacre::bench
