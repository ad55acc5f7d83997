// Draws programs and updates the model. execution.cc runs the part of a rank and checks it.
#include "program.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <vector>

namespace differential {
namespace {

constexpr int steps_max = 14;
constexpr std::int64_t access_bytes_max = 800;
constexpr std::int64_t tiles_max = 12;

struct Named {
  MPI_Datatype handle;
  std::vector<Element> map;
  std::int64_t extent;
  const char* text;
};

/// Basic types. Types with the same size in external32 come first; pair types and long double, in
/// which MPIs have the most bugs, come last.
std::vector<Named> named_types() {
  return {{MPI_BYTE, {{0, 1}}, 1, "byte"},
          {MPI_BYTE, {{0, 1}}, 1, "byte"},
          {MPI_CHAR, {{0, 1}}, 1, "char"},
          {MPI_SHORT, {{0, 2}}, 2, "short"},
          {MPI_INT, {{0, 4}}, 4, "int"},
          {MPI_FLOAT, {{0, 4}}, 4, "float"},
          {MPI_DOUBLE, {{0, 8}}, 8, "double"},
          {MPI_LONG_LONG, {{0, 8}}, 8, "long_long"},
          {MPI_C_FLOAT_COMPLEX, {{0, 8, 2}}, 8, "float_complex"},
          {MPI_C_DOUBLE_COMPLEX, {{0, 16, 2}}, 16, "double_complex"},
          {MPI_2INT, {{0, 4}, {4, 4}}, 8, "2int"},
          {MPI_SHORT_INT, {{0, 2}, {4, 4}}, 8, "short_int"},
          {MPI_DOUBLE_INT, {{0, 8}, {8, 4}}, 16, "double_int"},
          {MPI_LONG_DOUBLE, {{0, 16}}, 16, "long_double"},
          {MPI_LONG_DOUBLE_INT, {{0, 16}, {16, 4}}, 32, "long_double_int"}};
}
constexpr int portable_types = 10;

struct Hint {
  const char* key;
  std::vector<const char*> values;
};
const std::array<Hint, 16> hints{
    {{"nacre_algorithm", {"two_phase", "dynamic_segmentation", "static_segmentation"}},
     {"nacre_groups", {"each", "0-1/2-3", "1x2"}},
     {"nacre_saturation_bytes", {"1", "200", "4096"}},
     {"cb_buffer_size", {"96", "1000", "4096"}},
     {"cb_nodes", {"1", "2", "3"}},
     {"romio_cb_write", {"enable", "disable", "automatic"}},
     {"romio_cb_read", {"enable", "disable", "automatic"}},
     {"romio_ds_write", {"enable", "disable", "automatic"}},
     {"romio_ds_read", {"enable", "disable", "automatic"}},
     {"ind_rd_buffer_size", {"64", "512", "65536"}},
     {"ind_wr_buffer_size", {"64", "512", "65536"}},
     {"striping_factor", {"1", "2", "3"}},
     {"striping_unit", {"64", "512", "65536"}},
     {"collective_buffering", {"true", "false", "true"}},
     {"nacre_cycle_buffers", {"automatic", "3", "8"}},
     {"nacre_io_threads", {"automatic", "0", "2"}}}};

}  // namespace

Program::Program(MPI_Comm comm, const Options& options, std::uint64_t number)

    : comm_(comm),
      options_(options),
      number_(number),
      random_(mix(options.seed) ^ mix(number)),
      model_(options.with("holes")) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &size_);
  path_ = options.directory + "/differential-" + std::to_string(options.seed) + "-" +
          std::to_string(number);
}

bool Program::run() {
  if (rank_ == 0) {
    std::remove(path_.c_str());
  }
  MPI_Barrier(comm_);
  open(true);
  bool good = agreed();
  const int steps = random_.between(4, steps_max);
  for (int index = 0; good && index < steps; ++index) {
    settle_pointers();
    step();
    make_visible();
    check_queries();
    if (options_.check_each_step) {
      compare_file();
    }
    good = agreed();
  }
  if (good) {
    describe("close");
    call(MPI_File_close(&file_), "MPI_File_close");
    compare_file();
    good = agreed();
  } else if (file_ != MPI_FILE_NULL) {
    MPI_File_close(&file_);
  }
  MPI_Barrier(comm_);
  if (rank_ == 0) {
    std::remove(path_.c_str());
  }
  return good;
}

void Program::step() {
  const int kind = random_.below(100);
  if (kind < 34) {
    access_collectively();
  } else if (kind < 58) {
    access_independently();
  } else if (kind < 66) {
    access_shared_in_turn();
  } else if (kind < 82) {
    set_view();
  } else if (kind < 87) {
    resize();
  } else if (kind < 92) {
    seek();
  } else if (kind < 94) {
    seek_shared();
  } else if (kind < 97) {
    set_atomicity();
  } else {
    close_and_reopen();
  }
}

Type Program::draw_leaf(bool any) {
  const std::vector<Named> all = named_types();
  const int count = any && options_.with("pairs") ? static_cast<int>(all.size()) : portable_types;
  const Named& one = all[static_cast<std::size_t>(random_.below(count))];
  return named(one.handle, one.map, one.extent, one.text);
}

MPI_Info Program::draw_info() {
  if (!options_.with("hints") || random_.chance(40)) {
    return MPI_INFO_NULL;
  }
  MPI_Info info;
  MPI_Info_create(&info);
  std::string text = "  hints";
  for (int count = random_.between(1, 4); count > 0; --count) {
    const Hint& hint = hints[static_cast<std::size_t>(random_.below(hints.size()))];
    const char* value = hint.values[static_cast<std::size_t>(random_.below(hint.values.size()))];
    MPI_Info_set(info, hint.key, value);
    text += std::string(" ") + hint.key + "=" + value;
  }
  describe(text);
  return info;
}

void Program::open(bool create) {
  const bool append = !create && options_.with("append") && random_.chance(25);
  int mode = MPI_MODE_RDWR;
  mode |= create ? MPI_MODE_CREATE | MPI_MODE_EXCL : 0;
  mode |= append ? MPI_MODE_APPEND : 0;
  mode |= random_.chance(20) ? MPI_MODE_UNIQUE_OPEN : 0;
  MPI_Info info = draw_info();
  describe("open mode " + std::to_string(mode) + (append ? " (append)" : ""));
  call(MPI_File_open(comm_, path_.c_str(), mode, info, &file_), "MPI_File_open");
  if (info != MPI_INFO_NULL) {
    MPI_Info_free(&info);
  }
  View bytes;
  bytes.etype = named(MPI_BYTE, {{0, 1}}, 1, "byte");
  bytes.filetype = bytes.etype;
  const auto ranks = static_cast<std::size_t>(size_);
  views_.assign(ranks, bytes);
  leaves_.assign(1, bytes.etype);
  const std::int64_t start = append ? model_.size() : 0;
  pointers_.assign(ranks, start);
  pointer_lost_.assign(ranks, false);
  shared_ = start;
  shared_lost_ = false;
  identical_views_ = true;
  atomic_ = false;
}

void Program::close_and_reopen() {
  describe("close");
  call(MPI_File_close(&file_), "MPI_File_close");
  if (options_.check_each_step) {
    compare_file();
  }
  MPI_Barrier(comm_);
  open(false);
}

View Program::draw_view_base() {
  View view;
  const int representation = random_.below(100);
  if (representation < 12 && options_.with("external32")) {
    view.representation = "external32";
  } else if (representation < 18 && options_.with("internal")) {
    view.representation = "internal";
  }
  const Type leaf = draw_leaf(view.representation == "native");
  leaves_.assign(1, leaf);
  const int kind = random_.below(100);
  if (kind < 60) {
    view.etype = leaf;
  } else if (kind < 85 || !options_.with("etypes")) {
    view.etype = contiguous(leaf, random_.between(1, 3));
    MPI_Type_commit(view.etype.handle.get());
  } else {
    TypeRequest request{leaf,
                        2,
                        true,
                        leaf.extent,
                        6,
                        6 * leaf.extent,
                        options_.with("resized"),
                        options_.with("offsets")};
    view.etype = random_type(random_, request);
  }
  view.displacement = random_.chance(40) ? 0 : random_.between(0, 200);
  return view;
}

void Program::deal_interleaved(std::vector<View>& views, const TypeRequest& request) {
  std::int64_t at = 0;
  for (View& view : views) {
    view.filetype = random_type(random_, request);
    view.displacement += at;
    const std::int64_t span = view.filetype.true_upper_bound();
    at += (span + request.unit_bytes - 1) / request.unit_bytes * request.unit_bytes;
  }
  at += random_.between(0, 2) * request.unit_bytes;
  for (View& view : views) {
    view.filetype = resized(view.filetype, 0, at);
    MPI_Type_commit(view.filetype.handle.get());
  }
}

std::vector<View> Program::draw_views() {
  std::vector<View> views(static_cast<std::size_t>(size_), draw_view_base());
  const Type& etype = views.front().etype;
  const std::int64_t extent_max = std::max<std::int64_t>(512, 4 * etype.extent);
  const TypeRequest request{etype,
                            4,
                            true,
                            etype.extent,
                            40,
                            extent_max,
                            options_.with("resized"),
                            options_.with("offsets")};
  identical_views_ = false;
  const int kind = random_.below(100);
  if (kind < 25) {
    const Type filetype = random_type(random_, request);
    for (View& view : views) {
      view.filetype = filetype;
    }
    identical_views_ = true;
  } else if (kind < 65) {
    deal_interleaved(views, request);
  } else if (kind < 75) {
    for (std::size_t rank = 0; rank < views.size(); ++rank) {
      views[rank].filetype = etype;
      views[rank].displacement += static_cast<std::int64_t>(rank) * 40 * etype.extent;
    }
  } else if (kind < 85) {
    for (std::size_t rank = 0; rank < views.size(); ++rank) {
      views[rank].filetype = dealt_array(random_, etype, static_cast<int>(rank), size_);
    }
    random_.next();
  } else {
    for (View& view : views) {
      view.filetype = random_type(random_, request);
      view.displacement += random_.between(0, 64);
    }
  }
  return views;
}

void Program::set_view() {
  views_ = draw_views();
  for (int rank = 0; rank < size_; ++rank) {
    const View& view = views_[static_cast<std::size_t>(rank)];
    describe("set_view rank " + std::to_string(rank) + " " + view.representation + " disp " +
             std::to_string(view.displacement) + " etype " + view.etype.text + " filetype " +
             view.filetype.text);
  }
  std::fill(pointers_.begin(), pointers_.end(), 0);
  std::fill(pointer_lost_.begin(), pointer_lost_.end(), false);
  shared_ = 0;
  shared_lost_ = false;
  const View& mine = views_[static_cast<std::size_t>(rank_)];
  check_types(mine.etype);
  check_types(mine.filetype);
  MPI_Info info = draw_info();
  call(MPI_File_set_view(file_, mine.displacement, *mine.etype.handle, *mine.filetype.handle,
                         mine.representation.c_str(), info),
       "MPI_File_set_view");
  if (info != MPI_INFO_NULL) {
    MPI_Info_free(&info);
  }
}

void Program::resize() {
  const std::int64_t size = random_.between(0, 5000);
  if (random_.chance(40)) {
    describe("preallocate " + std::to_string(size));
    call(MPI_File_preallocate(file_, size), "MPI_File_preallocate");
    model_.reserve(size);
  } else {
    describe("set_size " + std::to_string(size));
    call(MPI_File_set_size(file_, size), "MPI_File_set_size");
    model_.resize(size);
  }
}

void Program::seek() {
  const int whence = random_.below(3);
  for (int rank = 0; rank < size_; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    std::int64_t& pointer = pointers_[index];
    const std::int64_t etype_size = views_[index].etype.size();
    const std::int64_t end = views_[index].bytes_before(model_.size());
    // The standard defines no position for an end inside an etype.
    const bool from_end = whence == 2 && end % etype_size == 0 && options_.with("seek_end");
    const std::int64_t base = from_end ? end / etype_size : whence == 1 ? pointer : 0;
    const std::int64_t offset =
        random_.between(static_cast<int>(-std::min<std::int64_t>(base, 9)), 9);
    pointer = base + offset;
    const int from = from_end ? MPI_SEEK_END : whence == 1 ? MPI_SEEK_CUR : MPI_SEEK_SET;
    describe("seek rank " + std::to_string(rank) + " to " + std::to_string(pointer) +
             (from_end ? " from the end" : ""));
    if (rank == rank_) {
      call(MPI_File_seek(file_, offset, from), "MPI_File_seek");
    }
  }
}

void Program::seek_shared() {
  if (!identical_views_ || !options_.with("shared")) {
    return;
  }
  const std::int64_t target = random_.between(0, 20);
  const bool relative = random_.chance(50);
  describe("seek_shared to " + std::to_string(target) + (relative ? " relative" : ""));
  call(MPI_File_seek_shared(file_, relative ? target - shared_ : target,
                            relative ? MPI_SEEK_CUR : MPI_SEEK_SET),
       "MPI_File_seek_shared");
  shared_ = target;
}

void Program::set_atomicity() {
  if (!options_.with("atomic")) {
    return;
  }
  atomic_ = !atomic_;
  describe(std::string("set_atomicity ") + (atomic_ ? "true" : "false"));
  call(MPI_File_set_atomicity(file_, atomic_ ? 1 : 0), "MPI_File_set_atomicity");
}

Program::Access Program::draw_access(const Call& call, int rank, std::int64_t pointer) {
  const View& view = views_[static_cast<std::size_t>(rank)];
  const std::int64_t etype_size = view.etype.size();
  const bool any = leaves_.front().text == "byte" && view.representation == "native";
  const Type leaf = any ? draw_leaf(true) : leaves_.front();
  const std::int64_t bytes_max = std::min(access_bytes_max, tiles_max * view.filetype.size());
  Access access;
  access.call = call;
  access.memory = random_type(random_, {leaf, 4, false, leaf.extent, 40, 1024,
                                        options_.with("resized"), options_.with("offsets")});
  if (std::lcm(access.memory.size(), etype_size) > bytes_max) {
    access.memory = leaves_.front();
  }
  const std::int64_t unit = std::lcm(access.memory.size(), etype_size);
  const int units =
      random_.between(0, static_cast<int>(std::min<std::int64_t>(4, bytes_max / unit)));
  access.count = units * unit / access.memory.size();
  if (call.position == Position::at) {
    const std::int64_t bytes = std::min<std::int64_t>(tiles_max * view.filetype.size(), 1500);
    access.offset = random_.between(0, static_cast<int>(bytes / etype_size));
    access.first = access.offset * etype_size;
  } else {
    access.first = pointer * etype_size;
  }
  access.tag = mix(random_.next());
  access.writer = rank + 1;
  access.free_early = random_.chance(30) && options_.with("early_free");
  if (!call.write && !options_.with("eof")) {
    limit_to_file(access, rank);
  }
  return access;
}

void Program::limit_to_file(Access& access, int rank) {
  const View& view = views_[static_cast<std::size_t>(rank)];
  const std::int64_t there = view.bytes_before(model_.size()) - access.first;
  const std::int64_t unit = std::lcm(access.memory.size(), view.etype.size());
  access.count =
      std::min(access.count, std::max<std::int64_t>(0, there) / unit * unit / access.memory.size());
}

std::int64_t Program::expected_bytes(const Access& access, int rank) const {
  if (access.call.write) {
    return access.bytes();
  }
  const View& view = views_[static_cast<std::size_t>(rank)];
  const std::int64_t there =
      std::clamp<std::int64_t>(view.bytes_before(model_.size()) - access.first, 0, access.bytes());
  return view.representation == "external32" ? whole_elements(access.memory, there) : there;
}

void Program::apply(const Access& access, int rank) {
  const auto index = static_cast<std::size_t>(rank);
  const View& view = views_[index];
  describe("  rank " + std::to_string(rank) + " " + access.text());
  if (access.call.write) {
    Buffer buffer(access.memory, access.count);
    buffer.fill(access.tag);
    model_.write(view, access.first, to_file(buffer, view.representation), access.writer);
  }
  const bool cut = expected_bytes(access, rank) < access.bytes();
  const std::int64_t etypes = access.bytes() / view.etype.size();
  if (access.call.position == Position::individual) {
    pointers_[index] += etypes;
    pointer_lost_[index] = pointer_lost_[index] || cut;
  } else if (access.call.position != Position::at) {
    shared_ += etypes;
    shared_lost_ = shared_lost_ || cut;
  }
}

/// After a read that reached the end of the file, the standard does not define the pointer. Seeks
/// also keep pointers low, so that files stay small.
void Program::settle_pointers() {
  for (int rank = 0; rank < size_; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    const View& view = views_[index];
    if (pointer_lost_[index] ||
        pointers_[index] * view.etype.size() > 2 * tiles_max * view.filetype.size()) {
      pointers_[index] = random_.between(0, 9);
      pointer_lost_[index] = false;
      describe("seek rank " + std::to_string(rank) + " to " + std::to_string(pointers_[index]));
      if (rank == rank_) {
        call(MPI_File_seek(file_, pointers_[index], MPI_SEEK_SET), "MPI_File_seek");
      }
    }
  }
  const View& view = views_.front();
  const bool far = shared_ * view.etype.size() > 2 * tiles_max * view.filetype.size();
  if (identical_views_ && (shared_lost_ || far) && options_.with("shared")) {
    shared_ = random_.between(0, 9);
    shared_lost_ = false;
    describe("seek_shared to " + std::to_string(shared_));
    call(MPI_File_seek_shared(file_, shared_, MPI_SEEK_SET), "MPI_File_seek_shared");
  }
}

void Program::access_independently() {
  const bool write = random_.chance(55);
  const bool nonblocking = random_.chance(45) && options_.with("nonblocking");
  describe(write ? "independent writes" : "independent reads");
  model_.begin_step();
  std::vector<Access> mine;
  for (int rank = 0; rank < size_; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    for (int count = random_.between(0, 2); count > 0; --count) {
      Call call{write, random_.chance(50) ? Position::at : Position::individual, false,
                Timing::blocking, false};
      call.timing = nonblocking ? Timing::nonblocking : Timing::blocking;
      call.large_count = random_.chance(30) && options_.with("large");
      Access access = draw_access(call, rank, pointers_[index]);
      // Order is defined only between blocking calls of one rank.
      access.writer = nonblocking ? 10 * (rank + 1) + count : rank + 1;
      apply(access, rank);
      if (rank == rank_) {
        mine.push_back(access);
      }
      if (pointer_lost_[index]) {
        break;
      }
    }
  }
  if (nonblocking) {
    run_concurrently(mine, true);
  } else {
    for (const Access& access : mine) {
      run_blocking(access);
    }
  }
}

void Program::access_shared_in_turn() {
  if (!identical_views_ || !options_.with("shared")) {
    return;
  }
  const bool write = random_.chance(55);
  describe(write ? "shared writes, in turn" : "shared reads, in turn");
  model_.begin_step();
  const int first = random_.below(size_);
  for (int turn = 0; turn < size_ && !shared_lost_; ++turn) {
    const int rank = (first + turn) % size_;
    Call call{write, Position::shared, false, Timing::blocking,
              random_.chance(30) && options_.with("large")};
    const bool nonblocking = random_.chance(40) && options_.with("nonblocking");
    call.timing = nonblocking ? Timing::nonblocking : Timing::blocking;
    Access access = draw_access(call, rank, shared_);
    // Each rank completes before the next rank begins, so that the order of writes is known.
    access.writer = 1;
    apply(access, rank);
    if (rank == rank_ && nonblocking) {
      run_concurrently({access}, false);
    } else if (rank == rank_) {
      run_blocking(access);
    }
    MPI_Barrier(comm_);
  }
}

Call Program::draw_collective_call() {
  Call call{random_.chance(55), random_.chance(50) ? Position::at : Position::individual, true,
            Timing::blocking, false};
  if (identical_views_ && random_.chance(40) && options_.with("ordered")) {
    call.position = Position::ordered;
  }
  const int timing = random_.below(100);
  if (timing < 30 && call.position != Position::ordered && options_.with("icoll")) {
    call.timing = Timing::nonblocking;
  } else if (timing >= 80 && options_.with("split")) {
    call.timing = Timing::split;
  }
  call.large_count = random_.chance(30) && options_.with("large");
  return call;
}

void Program::access_collectively() {
  const Call call = draw_collective_call();
  const int calls = call.timing == Timing::nonblocking ? random_.between(1, 2) : 1;
  describe(call.write ? "collective write" : "collective read");
  model_.begin_step();
  std::vector<Access> mine;
  for (int index = 0; index < calls; ++index) {
    for (int rank = 0; rank < size_; ++rank) {
      const bool ordered = call.position == Position::ordered;
      Access access =
          draw_access(call, rank, ordered ? shared_ : pointers_[static_cast<std::size_t>(rank)]);
      access.writer = 10 * (rank + 1) + index;
      apply(access, rank);
      if (rank == rank_) {
        mine.push_back(access);
      }
    }
  }
  switch (call.timing) {
    case Timing::blocking:
      run_blocking(mine.front());
      break;
    case Timing::nonblocking:
      run_concurrently(mine, false);
      break;
    case Timing::split:
      run_split(mine.front());
      break;
  }
}

}  // namespace differential
