// Runs this rank's part of a program, and compares with the model.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include <sys/stat.h>

#include "program.h"

namespace differential {
namespace {

char current_text[512] = "nothing yet";

std::string error_text(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  MPI_Error_string(code, text, &length);
  return "class " + std::to_string(error_class) + ": " + text;
}

void free_unless_named(MPI_Datatype& type) {
  int integers = 0;
  int addresses = 0;
  int datatypes = 0;
  int combiner = 0;
  MPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner);
  if (combiner != MPI_COMBINER_NAMED) {
    MPI_Type_free(&type);
  }
}

}  // namespace

const char* Program::current() { return current_text; }

std::string Program::Access::text() const {
  std::string text = name_of(call) + " " + std::to_string(count) + " x " + memory.text + " (" +
                     std::to_string(bytes()) + " bytes, view byte " + std::to_string(first) + ")";
  return free_early && call.timing != Timing::blocking ? text + ", datatype freed at once" : text;
}

void Program::describe(const std::string& text) {
  history_.push_back(text);
  std::snprintf(current_text, sizeof current_text, "seed %llu program %llu step %zu: %s",
                static_cast<unsigned long long>(options_.seed),
                static_cast<unsigned long long>(number_), history_.size(), text.c_str());
}

void Program::expect(bool right, const std::string& what) {
  if (!right && failure_.empty()) {
    failure_ = what;
  }
}

void Program::call(int code, const char* what) {
  if (code == -1) {
    expect(false, std::string(what) + " is not in this process");
  } else if (code != MPI_SUCCESS) {
    expect(false, std::string(what) + ": " + error_text(code));
  }
}

bool Program::agreed() {
  const int mine = failure_.empty() ? 1 : 0;
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm_);
  if (all == 1) {
    return true;
  }
  if (rank_ == 0) {
    const std::size_t shown = std::min<std::size_t>(history_.size(), 60);
    std::printf("FAILED seed %llu program %llu on %d ranks, %s; the last steps:\n",
                static_cast<unsigned long long>(options_.seed),
                static_cast<unsigned long long>(number_), size_, path_.c_str());
    for (std::size_t index = history_.size() - shown; index < history_.size(); ++index) {
      std::printf("  %s\n", history_[index].c_str());
    }
    std::fflush(stdout);
  }
  MPI_Barrier(comm_);
  if (mine == 0) {
    std::printf("FAILED rank %d: %s\n", rank_, failure_.c_str());
    std::fflush(stdout);
  }
  return false;
}

/// Makes writes visible to other processes as the standard says: sync, barrier, sync
/// (MPI 4.1, 14.6.1).
void Program::make_visible() {
  if (!atomic_) {
    call(MPI_File_sync(file_), "MPI_File_sync");
  }
  MPI_Barrier(comm_);
  if (!atomic_) {
    call(MPI_File_sync(file_), "MPI_File_sync");
  }
}

void Program::check_types(const Type& type) {
  if (!options_.check_types) {
    return;
  }
  const std::string text = disagreement(type);
  expect(text.empty(), text);
  Buffer buffer(type, 2);
  buffer.fill(number_);
  std::vector<unsigned char> packed(buffer.data.size());
  int position = 0;
  const auto size = static_cast<int>(packed.size());
  MPI_Pack(buffer.bytes.data() + buffer.origin, 2, *type.handle, packed.data(), size, &position,
           comm_);
  expect(packed == to_file(buffer, "native"),
         "MPI_Pack has the bytes in another order for " + type.text);
}

Arguments Program::arguments(Pending& pending) {
  return {file_, pending.access.offset, pending.buffer.bytes.data() + pending.buffer.origin,
          pending.access.count, *pending.access.memory.handle};
}

/// Starts a nonblocking or split access. Uses a duplicate of the datatype if the test frees it
/// early.
void Program::begin(Pending& pending, MPI_Datatype& early) {
  check_types(pending.access.memory);
  if (pending.access.call.write) {
    pending.buffer.fill(pending.access.tag);
  }
  Arguments with = arguments(pending);
  early = MPI_DATATYPE_NULL;
  if (pending.access.free_early) {
    MPI_Type_dup(with.datatype, &early);
    with.datatype = early;
  }
  call(start(pending.access.call, with, &pending.request), name_of(pending.access.call).c_str());
  if (early != MPI_DATATYPE_NULL) {
    MPI_Type_free(&early);
  }
}

void Program::run_blocking(const Access& access) {
  Pending pending(access);
  check_types(access.memory);
  if (access.call.write) {
    pending.buffer.fill(access.tag);
  }
  call(start(access.call, arguments(pending), &pending.status), name_of(access.call).c_str());
  check_result(pending);
}

void Program::run_split(const Access& access) {
  Pending pending(access);
  MPI_Datatype early;
  begin(pending, early);
  MPI_Offset position = 0;
  call(MPI_File_get_byte_offset(file_, 0, &position), "MPI_File_get_byte_offset");
  call(finish(access.call, arguments(pending), &pending.status), "the end of a split collective");
  check_result(pending);
}

void Program::run_concurrently(const std::vector<Access>& accesses, bool shuffled) {
  std::vector<Pending> pending;
  pending.reserve(accesses.size());
  std::vector<MPI_Request> requests;
  for (const Access& access : accesses) {
    MPI_Datatype early;
    begin(pending.emplace_back(access), early);
    requests.push_back(pending.back().request);
  }
  const int count = static_cast<int>(requests.size());
  std::vector<MPI_Status> statuses(requests.size());
  Random local(mix(number_ + history_.size()) + static_cast<std::uint64_t>(shuffled ? rank_ : 0));
  int done = 0;
  switch (count == 0 ? 4 : local.below(4)) {
    case 0:
      call(MPI_Waitall(count, requests.data(), statuses.data()), "MPI_Waitall");
      break;
    case 1:
      for (std::size_t index = requests.size(); index > 0; --index) {
        call(MPI_Wait(&requests[index - 1], &statuses[index - 1]), "MPI_Wait");
      }
      break;
    case 2:
      while (done == 0 && failure_.empty()) {
        call(MPI_Testall(count, requests.data(), &done, statuses.data()), "MPI_Testall");
      }
      break;
    case 3:
      for (int left = count; left > 0; --left) {
        int index = 0;
        MPI_Status status;
        call(MPI_Waitany(count, requests.data(), &index, &status), "MPI_Waitany");
        if (index < 0 || index >= count) {
          expect(false, "MPI_Waitany found no request");
          return;
        }
        statuses[static_cast<std::size_t>(index)] = status;
      }
      break;
    default:
      break;
  }
  for (std::size_t index = 0; index < pending.size(); ++index) {
    pending[index].status = statuses[index];
    check_result(pending[index]);
  }
}

void Program::check_result(Pending& pending) {
  if (!failure_.empty()) {
    return;
  }
  const std::int64_t bytes = expected_bytes(pending.access, rank_);
  if (options_.with("status")) {
    check_status(pending, bytes);
  }
  if (!pending.access.call.write) {
    const View& view = views_[static_cast<std::size_t>(rank_)];
    const std::string difference =
        compare_read(model_, view, pending.access.first, pending.buffer, bytes);
    expect(difference.empty(), name_of(pending.access.call) + ": " + difference);
  }
}

void Program::check_status(const Pending& pending, std::int64_t expected) {
  int bytes = -1;
  int count = -1;
  const MPI_Datatype memory = *pending.access.memory.handle;
  MPI_Get_count(&pending.status, MPI_BYTE, &bytes);
  MPI_Get_count(&pending.status, memory, &count);
  const std::string name = name_of(pending.access.call);
  expect(bytes == expected, name + ": the status says " + std::to_string(bytes) +
                                " bytes, must be " + std::to_string(expected));
  const std::int64_t size = pending.access.memory.size();
  const std::int64_t whole = expected % size == 0 ? expected / size : std::int64_t{MPI_UNDEFINED};
  expect(count == whole, name + ": the status says " + std::to_string(count) +
                             " of the datatype, must be " + std::to_string(whole));
  // MPICH's own MPI_Get_elements aborts on some derived types (4.0.2 and 5.0.2: get_elements_x.c,
  // line 233).
  if (pending.access.memory.text.find('(') != std::string::npos ||
      pending.access.memory.map.size() > 1) {
    return;
  }
  int elements = -1;
  MPI_Get_elements(&pending.status, memory, &elements);
  const std::vector<std::int64_t>& ends = pending.buffer.element_end;
  const auto found = std::lower_bound(ends.begin(), ends.end(), expected);
  if (expected == 0 || (found != ends.end() && *found == expected)) {
    const std::int64_t basic = expected == 0 ? 0 : std::distance(ends.begin(), found) + 1;
    expect(elements == basic, name + ": the status says " + std::to_string(elements) +
                                  " elements, must be " + std::to_string(basic));
  }
}

/// Checks size, pointers and view with the functions of the file.
void Program::check_queries() {
  if (!failure_.empty()) {
    return;
  }
  const auto mine = static_cast<std::size_t>(rank_);
  const View& view = views_[mine];
  MPI_Offset value = -1;
  call(MPI_File_get_size(file_, &value), "MPI_File_get_size");
  expect(value == model_.size(),
         "the size is " + std::to_string(value) + ", must be " + std::to_string(model_.size()));
  if (!pointer_lost_[mine]) {
    call(MPI_File_get_position(file_, &value), "MPI_File_get_position");
    expect(value == pointers_[mine], "the position is " + std::to_string(value) + ", must be " +
                                         std::to_string(pointers_[mine]));
  }
  if (identical_views_ && !shared_lost_ && options_.with("shared")) {
    call(MPI_File_get_position_shared(file_, &value), "MPI_File_get_position_shared");
    expect(value == shared_, "the shared position is " + std::to_string(value) + ", must be " +
                                 std::to_string(shared_));
  }
  if (view.etype.map.front().offset == 0 && view.etype.lower_bound == 0) {
    call(MPI_File_get_byte_offset(file_, 7, &value), "MPI_File_get_byte_offset");
    const std::int64_t right = view.file_offset(7 * view.etype.size());
    expect(value == right, "the byte offset of 7 is " + std::to_string(value) + ", must be " +
                               std::to_string(right));
  }
  MPI_Datatype etype;
  MPI_Datatype filetype;
  char representation[MPI_MAX_DATAREP_STRING + 1] = "";
  call(MPI_File_get_view(file_, &value, &etype, &filetype, representation), "MPI_File_get_view");
  expect(value == view.displacement && view.representation == representation,
         "get_view differs from the view set");
  free_unless_named(etype);
  free_unless_named(filetype);
}

/// Checks the file with plain reads, without MPI.
void Program::compare_file() {
  if (rank_ != 0) {
    return;
  }
  std::ifstream stream(path_, std::ios::binary);
  const std::vector<char> found((std::istreambuf_iterator<char>(stream)),
                                std::istreambuf_iterator<char>());
  expect(static_cast<std::int64_t>(found.size()) == model_.size(),
         "the file has " + std::to_string(found.size()) + " bytes, must have " +
             std::to_string(model_.size()));
  const std::int64_t size = std::min(static_cast<std::int64_t>(found.size()), model_.size());
  for (std::int64_t offset = 0; offset < size; ++offset) {
    const auto byte = static_cast<unsigned char>(found[static_cast<std::size_t>(offset)]);
    if (model_.determined(offset) && byte != model_.at(offset)) {
      expect(false, "file byte " + std::to_string(offset) + " is " + std::to_string(byte) +
                        ", must be " + std::to_string(model_.at(offset)));
      return;
    }
  }
}

}  // namespace differential
