// Writes, reads and opens.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "worker.h"

namespace nacre_tune {
namespace {

constexpr int delay_create = 020400;  // O_LOV_DELAY_CREATE: Lustre gives the file no layout yet
constexpr std::size_t page = 4096;

/// lov_user_md_v1 of Lustre.
struct LovUserMd {
  std::uint32_t magic = 0x0BD10BD0;
  std::uint32_t pattern = 1;
  std::uint64_t object_id = 0;
  std::uint64_t object_seq = 0;
  std::uint32_t stripe_size = 0;
  std::uint16_t stripe_count = 0;
  std::uint16_t stripe_offset = 0;
};
static_assert(sizeof(LovUserMd) == 32);

struct Part {
  bool takes_part = false;
  int number = 0;  ///< of the rank, among those that take part
  std::string path;
};

Part part_of(const Ranks& ranks, const Measurement& what, const std::string& directory) {
  Part part;
  const std::int64_t per_node = what.number("ranks", 1);
  const std::int64_t distance = what.number("distance", 1);
  const std::int64_t node = ranks.node / distance;
  part.takes_part =
      ranks.node % distance == 0 && node < what.number("nodes", 1) && ranks.rank_in_node < per_node;
  part.number = static_cast<int>(node * per_node + ranks.rank_in_node);
  const bool shared = what.number("shared", 0) != 0;
  part.path = directory + "/data." + (shared ? "shared" : std::to_string(ranks.rank));
  return part;
}

/// Writes the first `size` bytes of the file again and again, until `bytes` are written. Returns an
/// errno, or 0.
int rewrite(int file, const char* buffer, std::int64_t size, std::int64_t bytes) {
  for (std::int64_t done = 0; done < bytes; done += size) {
    if (pwrite(file, buffer, static_cast<std::size_t>(size), 0) != size)
      return errno != 0 ? errno : EIO;
  }
  return 0;
}

/// Bytes of a file.
struct Range {
  std::int64_t offset;
  std::int64_t bytes;
};

/// Moves the range in calls of `size` bytes. Returns an errno, or 0.
int transfer(int file, bool write, char* buffer, std::int64_t size, const Range& range) {
  for (std::int64_t done = 0; done < range.bytes;) {
    const auto length = static_cast<std::size_t>(std::min(size, range.bytes - done));
    const ssize_t moved = write ? pwrite(file, buffer, length, range.offset + done)
                                : pread(file, buffer, length, range.offset + done);
    if (moved < 0) return errno;
    if (moved == 0) return EIO;
    done += moved;
  }
  return 0;
}

struct FreeMemory {
  void operator()(char* memory) const { std::free(memory); }
};

/// What a rank does with the file.
struct Access {
  Range range;
  std::int64_t size;  ///< of a call
  bool write;
  bool sync;    ///< at the end of a write
  bool again;   ///< writes the first `size` bytes again and again
  bool cached;  ///< reads pages that are in the cache of the node
  bool direct;  ///< past the page cache
};

Access access_of(const Part& part, const Measurement& what) {
  const std::int64_t bytes = what.number("bytes", 1 << 20);
  const std::int64_t offset = what.number("shared", 0) != 0 ? part.number * bytes : 0;
  return {.range = {offset, bytes},
          .size = what.number("size", 1 << 20),
          .write = what.number("write", 1) != 0,
          .sync = what.number("sync", 1) != 0,
          .again = what.number("again", 0) != 0,
          .cached = what.number("cached", 0) != 0,
          .direct = what.number("direct", 0) != 0};
}

class OpenedFile {
 public:
  OpenedFile(const std::string& path, const Access& access)
      : access_(access),
        room_(std::max(access.size, std::int64_t{1} << 20)),
        buffer_(static_cast<char*>(std::aligned_alloc(page, static_cast<std::size_t>(room_)))),
        file_(open(path.c_str(), O_RDWR | (access.direct ? O_DIRECT : 0))) {
    std::memset(buffer_.get(), 'n', static_cast<std::size_t>(room_));
  }
  ~OpenedFile() {
    if (file_ >= 0) close(file_);
  }
  OpenedFile(const OpenedFile&) = delete;
  OpenedFile& operator=(const OpenedFile&) = delete;

  /// What is not to be timed: fills a file that is to be read, and lets its pages go. Returns an
  /// errno, or 0.
  [[nodiscard]] int prepare() const {
    if (file_ < 0) return errno;
    if (access_.again) return rewrite(file_, buffer_.get(), access_.size, access_.size);
    if (access_.write) return 0;
    const int error = transfer(file_, true, buffer_.get(), room_, access_.range);
    if (error != 0 || access_.cached) return error;
    if (fsync(file_) != 0) return errno;
    return posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED);
  }

  [[nodiscard]] int run() const {
    const int error =
        access_.again ? rewrite(file_, buffer_.get(), access_.size, access_.range.bytes)
                      : transfer(file_, access_.write, buffer_.get(), access_.size, access_.range);
    if (error != 0) return error;
    return access_.write && access_.sync && fsync(file_) != 0 ? errno : 0;
  }

 private:
  Access access_;
  std::int64_t room_;
  std::unique_ptr<char, FreeMemory> buffer_;
  int file_;
};

/// Opens the file that all have created, runs the access, and returns its time.
Sample timed(const Part& part, const Measurement& what) {
  const Access access = access_of(part, what);
  Sample sample;
  std::optional<OpenedFile> file;
  if (part.takes_part) sample.error = file.emplace(part.path, access).prepare();
  sample.error = worst(sample.error);
  if (file) {
    const double start = seconds_now();
    if (sample.error == 0) sample.error = file->run();
    sample.seconds = seconds_now() - start;
    sample.bytes = static_cast<double>(access.range.bytes);
  }
  const std::int64_t calls = (access.range.bytes + access.size - 1) / access.size;
  sample.count = static_cast<double>(calls);
  return sample;
}

}  // namespace

int create_file(const std::string& path, const Measurement& what, std::int64_t number) {
  const std::int64_t stripes = what.number("stripes", 0);
  unlink(path.c_str());
  const int file =
      open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | (stripes ? delay_create : 0), 0600);
  if (file < 0) return errno;
  int error = 0;
  if (stripes != 0) {
    LovUserMd layout;
    layout.stripe_size = static_cast<std::uint32_t>(what.number("stripe_size", 1 << 20));
    layout.stripe_count = static_cast<std::uint16_t>(stripes);
    const std::int64_t first = what.number("first", 0) + number * what.number("step", 0);
    layout.stripe_offset = static_cast<std::uint16_t>(first % what.number("osts", 1 << 16));
    if (fsetxattr(file, "lustre.lov", &layout, sizeof layout, 0) != 0) error = errno;
  }
  close(file);
  return error;
}

/// Writes or reads by `ranks` ranks of each of `nodes` nodes, `bytes` a rank in calls of `size`.
/// The nodes are the first ones, or every `distance`th.
Sample measure_transfer(const Ranks& ranks, const Measurement& what, const std::string& directory) {
  const Part part = part_of(ranks, what, directory);
  const bool creates = part.takes_part && (what.number("shared", 0) == 0 || ranks.rank == 0);
  const int created = worst(creates ? create_file(part.path, what, part.number) : 0);
  Sample sample;
  if (created == 0) sample = timed(part, what);
  sample.error = std::max(created, worst(sample.error));
  sample.seconds = slowest(sample.seconds);
  MPI_Allreduce(MPI_IN_PLACE, &sample.bytes, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (creates) unlink(part.path.c_str());
  return sample;
}

/// Two nodes write to one object in turn, each to a page of its own, so that a wide lock moves to
/// and fro. `count`: turns of each. `writes=0`: they only tell each other that it is their turn.
Sample measure_turns(const Ranks& ranks, const Measurement& what, const std::string& directory) {
  const std::string path = directory + "/data.turns";
  const int created = worst(ranks.rank == 0 ? create_file(path, what, 0) : 0);
  Sample sample;
  sample.error = created;
  const bool takes_part = ranks.node < 2 && ranks.rank_in_node == 0;
  if (created == 0 && takes_part) {
    const int other = ranks.first_of_node[static_cast<std::size_t>(1 - ranks.node)];
    const std::int64_t count = what.number("count", 32);
    const bool writes = what.number("writes", 1) != 0;
    const std::vector<char> buffer(page, 'n');
    const int file = open(path.c_str(), O_RDWR);
    if (file < 0) sample.error = errno;
    const double start = seconds_now();
    for (std::int64_t turn = 0; turn < 2 * count; ++turn) {
      if (turn % 2 != ranks.node) {
        MPI_Recv(nullptr, 0, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        continue;
      }
      const off_t offset = ranks.node * what.number("apart", 1 << 19);
      if (writes && sample.error == 0 && pwrite(file, buffer.data(), page, offset) != page) {
        sample.error = errno != 0 ? errno : EIO;
      }
      MPI_Send(nullptr, 0, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    }
    sample.seconds = seconds_now() - start;
    if (file >= 0) close(file);
  }
  sample.count = static_cast<double>(2 * what.number("count", 32));
  sample.error = worst(sample.error);
  sample.seconds = slowest(sample.seconds);
  if (ranks.rank == 0) unlink(path.c_str());
  return sample;
}

/// Opens of an existing file by rank 0.
Sample measure_open(const Ranks& ranks, const Measurement& what, const std::string& directory) {
  Part part = part_of(ranks, what, directory);
  part.takes_part = ranks.rank == 0;
  Sample sample;
  sample.count = static_cast<double>(what.number("count", 20));
  if (part.takes_part) {
    sample.error = create_file(part.path, what, part.number);
    const double start = seconds_now();
    for (double at = 0; at < sample.count && sample.error == 0; ++at) {
      const int file = open(part.path.c_str(), O_RDWR);
      if (file < 0) sample.error = errno;
      if (file >= 0) close(file);
    }
    sample.seconds = seconds_now() - start;
    unlink(part.path.c_str());
  }
  sample.error = worst(sample.error);
  return sample;
}

}  // namespace nacre_tune
