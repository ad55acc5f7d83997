// Collective writes and reads of one file by all ranks, through whatever serves MPI-IO in this
// process: Nacre if it is preloaded, otherwise the MPI.
#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "worker.h"

namespace nacre_tune {
namespace {

constexpr const char* hint_prefix = "hint.";
constexpr const char* machine_file_name = "/machine.toml";

/// The hints of the word: keys that begin with "hint.". With machine_file=1 the machine file in the
/// directory holds.
MPI_Info info_of(const Measurement& what, const std::string& directory) {
  const std::string prefix = hint_prefix;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (const auto& [key, value] : what.values()) {
    if (key.rfind(prefix, 0) == 0) {
      MPI_Info_set(info, key.substr(prefix.size()).c_str(), value.c_str());
    }
  }
  if (what.number("machine_file", 0) != 0) {
    MPI_Info_set(info, "nacre_machine", (directory + machine_file_name).c_str());
  }
  return info;
}

/// The bytes of one rank: pieces of equal size, which lie in the file in turn with those of the
/// other ranks. One piece: a contiguous part of the file.
class Pieces {
 public:
  Pieces(const Ranks& ranks, const Measurement& what)
      : piece_(static_cast<int>(what.number("piece", 1 << 20))),
        count_(static_cast<int>(std::max<std::int64_t>(what.number("bytes", 1 << 20) / piece_, 1))),
        first_(static_cast<MPI_Offset>(ranks.rank) * piece_) {
    const MPI_Aint distance = static_cast<MPI_Aint>(ranks.count) * piece_;
    MPI_Type_create_hvector(count_, piece_, distance, MPI_BYTE, &view_);
    MPI_Type_commit(&view_);
  }
  ~Pieces() { MPI_Type_free(&view_); }
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

  [[nodiscard]] int bytes() const { return piece_ * count_; }
  int set_view(MPI_File file) const {
    return MPI_File_set_view(file, first_, MPI_BYTE, view_, "native", MPI_INFO_NULL);
  }

 private:
  int piece_;
  int count_;
  MPI_Offset first_;
  MPI_Datatype view_ = MPI_DATATYPE_NULL;
};

/// Lets the pages of the file go that this node has in its cache. Returns an errno, or 0.
int drop_pages(const Ranks& ranks, const std::string& path) {
  if (ranks.rank_in_node != 0) return 0;
  const int file = open(path.c_str(), O_RDONLY);
  if (file < 0) return errno;
  const int error = posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  close(file);
  return error;
}

/// Writes or reads the pieces, and returns the time of this rank. The time of a write includes
/// MPI_File_sync.
Sample timed(MPI_File file, bool write, int bytes) {
  std::vector<char> buffer(static_cast<std::size_t>(bytes), 'n');
  Sample sample;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = seconds_now();
  int failed = write ? MPI_File_write_all(file, buffer.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                     : MPI_File_read_all(file, buffer.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  if (write && MPI_File_sync(file) != MPI_SUCCESS) failed = MPI_ERR_IO;
  sample.seconds = seconds_now() - start;
  sample.error = failed == MPI_SUCCESS ? 0 : EIO;
  return sample;
}

}  // namespace

/// One collective call of all ranks, `bytes` a rank in pieces of `piece`. A write creates the file
/// and leaves it for the read that follows.
Sample measure_collective(const Ranks& ranks, const Measurement& what,
                          const std::string& directory) {
  const std::string path = directory + "/data.collective";
  const bool write = what.number("write", 1) != 0;
  Sample sample;
  sample.error = write && ranks.rank == 0 ? create_file(path, what, 0) : 0;
  if (!write) sample.error = drop_pages(ranks, path);
  sample.error = worst(sample.error);
  if (sample.error != 0) return sample;
  MPI_Info info = info_of(what, directory);
  MPI_File file = MPI_FILE_NULL;
  const int opened = MPI_File_open(MPI_COMM_WORLD, path.c_str(),
                                   write ? MPI_MODE_WRONLY : MPI_MODE_RDONLY, info, &file);
  MPI_Info_free(&info);
  sample.error = worst(opened == MPI_SUCCESS ? 0 : EIO);
  if (sample.error != 0) return sample;
  const Pieces pieces(ranks, what);
  const int viewed = pieces.set_view(file);
  sample = timed(file, write, pieces.bytes());
  if (viewed != MPI_SUCCESS) sample.error = EIO;
  MPI_File_close(&file);
  sample.error = worst(sample.error);
  sample.seconds = slowest(sample.seconds);
  sample.bytes = static_cast<double>(pieces.bytes()) * ranks.count;
  sample.count = 1;
  return sample;
}

}  // namespace nacre_tune
