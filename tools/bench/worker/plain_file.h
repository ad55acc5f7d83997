#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "engine.h"

namespace nacre::bench {

/// A file accessed with plain system calls. A failure aborts the job.
class PlainFile {
 public:
  void open(const std::string& path, Direction direction);
  /// Moves all of `bytes`, in requests of at most 4 MiB.
  void move(std::int64_t offset, std::span<std::byte> bytes, Direction direction) const;
  void close(bool sync);

 private:
  int file_ = -1;
};

}  // namespace nacre::bench
