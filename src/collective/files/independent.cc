#include "collective/files/independent.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/checked_cast.h"
#include "collective/files/sieve_windows.h"
#include "collective/rounds/scratch.h"
#include "plan/types/strided_copy.h"

namespace nacre::collective {
namespace {

using plan::Direction;

// Memory in smaller pieces, on average, is copied through a staging buffer: an entry of an I/O
// vector costs the kernel about as much as copying so many bytes.
constexpr std::int64_t vectored_piece_bytes = 512;
// Fewer pieces are not staged.
constexpr std::int64_t few_pieces = 64;
// Pieces of one call of the store: IOV_MAX of Linux.
constexpr std::size_t pieces_max = 1024;
constexpr std::int64_t buffer_bytes_min = 4096;

/// Yields the runs of a type map one by one.
class SingleRuns {
 public:
  SingleRuns() = default;
  explicit SingleRuns(plan::RunCursor cursor) : cursor_(std::move(cursor)) {}

  /// The next run, or its next part of at most `bytes_max`.
  Extent next(std::int64_t bytes_max) {
    if (index_ == series_.count) {
      series_ = cursor_.next();
      index_ = 0;
    }
    const std::int64_t offset = series_.offset + index_ * series_.stride + done_;
    const std::int64_t length = std::min(bytes_max, series_.length - done_);
    done_ += length;
    if (done_ == series_.length) {
      done_ = 0;
      ++index_;
    }
    return {offset, length};
  }

 private:
  plan::RunCursor cursor_;
  plan::RunSeries series_;
  std::int64_t index_ = 0;
  std::int64_t done_ = 0;
};

/// Counts a call of the store that begins now.
class CallTimer {
 public:
  explicit CallTimer(Profiler& profiler) : profiler_(profiler) {
    if (profiler_.times_file_calls()) since_ = monotonic_nanoseconds();
  }
  void count(const Extent& moved) const {
    profiler_.count_file_call({moved, since_ ? monotonic_nanoseconds() - *since_ : 0});
  }

 private:
  Profiler& profiler_;
  std::optional<std::int64_t> since_;  // null: the call is not timed
};

class Mover {
 public:
  Mover(store::StoreFile& file, const IndependentAccess& access,
        const IndependentSettings& settings, Profiler& profiler)
      : file_(file), access_(access), profiler_(profiler) {
    const bool reads = access.direction == Direction::read;
    const std::int64_t asked = reads ? settings.read_buffer_bytes : settings.write_buffer_bytes;
    buffer_bytes_ = std::max(buffer_bytes_min, asked);
    call_cost_bytes_ = settings.call_cost_bytes;
    sieving_ = reads ? settings.read_sieving : settings.write_sieving;
  }

  store::Transfer run() {
    const plan::FileAccess& file = access_.file;
    SieveWindows windows(plan::RunCursor(file.view, file.first_byte, file.byte_count),
                         sieving_ ? buffer_bytes_ : 0, call_cost_bytes_);
    while (done_.bytes < file.byte_count) {
      const SieveWindow window = windows.next();
      if (!move(window)) break;
    }
    return std::move(done_);
  }

 private:
  [[nodiscard]] bool reads() const { return access_.direction == Direction::read; }
  [[nodiscard]] plan::TiledMap memory_map() const { return {access_.memory.type, 0}; }

  /// Returns false after an error or at the end of the file.
  bool move(const SieveWindow& window) {
    if (!window.has_gaps) return move_contiguous(window.hull);
    if (reads()) return sieve_read(window);
    return sieve_write(window);
  }

  bool move_contiguous(const Extent& run) {
    const plan::TypeMap& type = access_.memory.type;
    if (type.is_contiguous()) return move_vectored(run);
    const std::int64_t piece_bytes = type.size() / type.run_count();
    const bool is_scattered =
        piece_bytes < vectored_piece_bytes && run.length > few_pieces * piece_bytes;
    return is_scattered ? move_staged(run) : move_vectored(run);
  }

  bool move_vectored(const Extent& run) {
    if (memory_position_ != done_.bytes || memory_position_ == 0) {
      const std::int64_t left = access_.file.byte_count - done_.bytes;
      memory_runs_ = SingleRuns(plan::RunCursor(memory_map(), done_.bytes, left));
      memory_position_ = done_.bytes;
    }
    for (std::int64_t moved = 0; moved < run.length;) {
      pieces_.clear();
      std::int64_t bytes = 0;
      while (moved + bytes < run.length && pieces_.size() < pieces_max) {
        const Extent piece = memory_runs_.next(run.length - moved - bytes);
        pieces_.push_back({plan::at(access_.memory.base, piece.offset), piece.length});
        bytes += piece.length;
      }
      memory_position_ += bytes;
      if (!account(transfer(run.offset + moved), bytes)) return false;
      moved += bytes;
    }
    return true;
  }

  bool move_staged(const Extent& run) {
    for (std::int64_t moved = 0; moved < run.length;) {
      const std::int64_t bytes = std::min(run.length - moved, buffer_bytes_);
      const std::optional<std::span<std::byte>> room = take_room(bytes);
      if (!room) return false;
      const std::span<std::byte> staged = *room;
      profiler_.profile().copied_bytes.add(bytes);
      if (!reads()) {
        const PhaseScope scope(profiler_, Phase::copy);
        plan::pack(access_.memory, done_.bytes, staged);
      }
      pieces_.assign(1, {staged.data(), bytes});
      store::Transfer result = transfer(run.offset + moved);
      if (reads()) {
        const PhaseScope scope(profiler_, Phase::copy);
        plan::unpack(access_.memory, done_.bytes,
                     staged.first(checked_cast<std::size_t>(result.bytes)));
      }
      if (!account(std::move(result), bytes)) return false;
      moved += bytes;
    }
    return true;
  }

  bool sieve_read(const SieveWindow& window) {
    const std::optional<std::span<std::byte>> sieve = take_room(window.hull.length);
    if (!sieve) return false;
    pieces_.assign(1, {sieve->data(), window.hull.length});
    store::Transfer result = transfer(window.hull.offset);
    const std::int64_t got = result.bytes == window.hull.length
                                 ? window.data_bytes
                                 : data_bytes_in(window, result.bytes);
    copy_window(window, sieve->data(), got);
    result.bytes = got;
    return account(std::move(result), window.data_bytes);
  }

  bool sieve_write(const SieveWindow& window) {
    Result<std::unique_ptr<store::FileLock>> lock =
        file_.lock(window.hull, store::LockKind::exclusive);
    if (!lock) {
      if (lock.error().error_class == ErrorClass::unsupported_operation) return move_runs(window);
      done_.error = std::move(lock).error();
      return false;
    }
    const std::optional<std::span<std::byte>> room = take_room(window.hull.length);
    if (!room) return false;
    const std::span<std::byte> sieve = *room;
    store::Transfer old = read_old(sieve, window.hull.offset);
    if (old.error) {
      done_.error = std::move(old.error);
      return false;
    }
    // Bytes beyond the end of the file read as zeros after the file has grown.
    std::fill(sieve.begin() + old.bytes, sieve.end(), std::byte{0});
    copy_window(window, sieve.data(), window.data_bytes);
    pieces_.assign(1, {sieve.data(), window.hull.length});
    store::Transfer result = transfer(window.hull.offset);
    if (result.bytes < window.hull.length) result.bytes = data_bytes_in(window, result.bytes);
    result.bytes = std::min(result.bytes, window.data_bytes);
    return account(std::move(result), window.data_bytes);
  }

  /// Nothing, and done_.error, if there is no memory.
  std::optional<std::span<std::byte>> take_room(std::int64_t bytes) {
    Result<std::span<std::byte>> room =
        scratch_.try_take(bytes, "to collect pieces",
                          reads() ? "set the hint ind_rd_buffer_size lower"
                                  : "set the hint ind_wr_buffer_size lower");
    if (room) return *room;
    done_.error = std::move(room).error();
    return std::nullopt;
  }

  store::Transfer read_old(std::span<std::byte> into, std::int64_t offset) {
    profiler_.profile().read_modify_writes.add(1);
    const store::ReadPiece whole{into.data(), std::ssize(into)};
    return file_.read({&whole, 1}, offset);
  }

  /// Writes the runs of the window one by one and leaves the gaps unchanged.
  bool move_runs(const SieveWindow& window) {
    SingleRuns runs(window_cursor(0, window.data_bytes));
    for (std::int64_t left = window.data_bytes; left > 0;) {
      const Extent run = runs.next(left);
      if (!move_vectored(run)) return false;
      left -= run.length;
    }
    return true;
  }

  /// A cursor over the first `bytes` of the window, which begins at data byte done_.bytes. Offsets
  /// are relative to `origin`.
  [[nodiscard]] plan::RunCursor window_cursor(std::int64_t origin, std::int64_t bytes) const {
    const plan::FileAccess& file = access_.file;
    return plan::RunCursor({file.view.type, file.view.origin - origin},
                           file.first_byte + done_.bytes, bytes);
  }

  /// The number of the window's data bytes in the first `bytes` of its hull.
  [[nodiscard]] std::int64_t data_bytes_in(const SieveWindow& window, std::int64_t bytes) const {
    SingleRuns runs(window_cursor(window.hull.offset, window.data_bytes));
    std::int64_t inside = 0;
    while (inside < window.data_bytes) {
      const Extent run = runs.next(window.data_bytes - inside);
      if (run.end() > bytes) return inside + std::max<std::int64_t>(0, bytes - run.offset);
      inside += run.length;
    }
    return inside;
  }

  /// Copies the first `bytes` of the window between the sieve and memory.
  void copy_window(const SieveWindow& window, std::byte* sieve, std::int64_t bytes) {
    if (bytes == 0) return;
    const PhaseScope scope(profiler_, Phase::copy);
    profiler_.profile().copied_bytes.add(bytes);
    plan::RunCursor in_sieve = window_cursor(window.hull.offset, bytes);
    plan::RunCursor in_memory(memory_map(), done_.bytes, bytes);
    if (reads()) {
      plan::copy_runs(sieve, in_sieve, access_.memory.base, in_memory, bytes);
    } else {
      plan::copy_runs(access_.memory.base, in_memory, sieve, in_sieve, bytes);
    }
  }

  store::Transfer transfer(std::int64_t offset) {
    const CallTimer timer(profiler_);
    store::Transfer result;
    if (reads()) {
      result = file_.read(pieces_, offset);
    } else {
      write_pieces_.clear();
      for (const store::ReadPiece& piece : pieces_) {
        write_pieces_.push_back({piece.data, piece.size});
      }
      result = file_.write(write_pieces_, offset);
    }
    timer.count({offset, result.bytes});
    return result;
  }

  /// Adds the bytes moved; returns whether all of `bytes` were moved.
  bool account(store::Transfer result, std::int64_t bytes) {
    done_.bytes += result.bytes;
    done_.error = std::move(result.error);
    return !done_.error && result.bytes == bytes;
  }

  store::StoreFile& file_;
  const IndependentAccess& access_;
  Profiler& profiler_;
  std::int64_t buffer_bytes_ = 0;
  std::int64_t call_cost_bytes_ = 0;
  bool sieving_ = false;
  store::Transfer done_;
  SingleRuns memory_runs_;
  std::int64_t memory_position_ = 0;  // in the stream, of memory_runs_
  std::vector<store::ReadPiece> pieces_;
  std::vector<store::WritePiece> write_pieces_;
  Scratch scratch_;
};

/// Whether the access is contiguous in memory and in the file, as are the small accesses of which
/// programs make many.
bool is_one_piece(const IndependentAccess& access) {
  return access.memory.type.is_contiguous() && access.file.view.type.is_contiguous();
}

store::Transfer move_one_piece(store::StoreFile& file, const IndependentAccess& access,
                               Profiler& profiler) {
  std::byte* const data = plan::at(access.memory.base, plan::offset_of({access.memory.type, 0}, 0));
  const std::int64_t offset = plan::offset_of(access.file.view, access.file.first_byte);
  const CallTimer timer(profiler);
  store::Transfer done;
  if (access.direction == Direction::read) {
    const store::ReadPiece piece{data, access.file.byte_count};
    done = file.read({&piece, 1}, offset);
  } else {
    const store::WritePiece piece{data, access.file.byte_count};
    done = file.write({&piece, 1}, offset);
  }
  timer.count({offset, done.bytes});
  return done;
}

}  // namespace

store::Transfer access_runs(store::StoreFile& file, const IndependentAccess& access,
                            const IndependentSettings& settings, Profiler& profiler) {
  if (access.file.byte_count == 0) return {};
  if (is_one_piece(access)) return move_one_piece(file, access, profiler);
  Mover mover(file, access, settings, profiler);
  return mover.run();
}

}  // namespace nacre::collective
