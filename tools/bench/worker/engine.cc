#include "engine.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "hand_block4d.h"
#include "mpi_support.h"
#include "plain_file.h"
#include "resources.h"

namespace nacre::bench {
namespace {

/// An MPI_Info of the given pairs.
class Hints {
 public:
  explicit Hints(const Options& options) {
    require(MPI_Info_create(&info_), "MPI_Info_create");
    for (const auto& [key, value] : options.hints) {
      require(MPI_Info_set(info_, key.c_str(), value.c_str()), "MPI_Info_set");
    }
  }
  ~Hints() { MPI_Info_free(&info_); }
  Hints(const Hints&) = delete;
  Hints& operator=(const Hints&) = delete;

  [[nodiscard]] MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

class MpiIoPass : public FilePass {
 public:
  MpiIoPass(const Options& options, const Access& access) : hints_(options) {
    for (const Step& step : access.steps) {
      types_.push_back(
          {MpiType::of(step.etype), MpiType::of(step.filetype), MpiType::of(step.memory)});
    }
  }

  void open(const std::string& path, Direction direction) override {
    const int mode =
        direction == Direction::write ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY;
    require(MPI_File_open(MPI_COMM_WORLD, path.c_str(), mode, hints_.get(), &file_),
            "MPI_File_open");
  }

  void transfer(const Access& access, std::span<std::byte> buffer, Direction direction) override {
    for (std::size_t i = 0; i < access.steps.size(); ++i) {
      const Step& step = access.steps[i];
      const Types& types = types_[i];
      require(MPI_File_set_view(file_, step.displacement, types.etype.get(), types.filetype.get(),
                                "native", MPI_INFO_NULL),
              "MPI_File_set_view");
      for (const Transfer& call : step.transfers) {
        move(call, types.memory.get(), buffer.data() + call.buffer_offset,
             {step.collective, direction});
      }
    }
  }

  void close(bool sync) override {
    if (sync) require(MPI_File_sync(file_), "MPI_File_sync");
    require(MPI_File_close(&file_), "MPI_File_close");
  }

 private:
  /// The types of a step.
  struct Types {
    MpiType etype;
    MpiType filetype;
    MpiType memory;
  };
  struct Kind {
    bool collective = true;
    Direction direction = Direction::write;
  };

  void move(const Transfer& call, MPI_Datatype type, std::byte* data, Kind kind) {
    MPI_Status status;
    int code = MPI_SUCCESS;
    if (kind.direction == Direction::write) {
      code = kind.collective
                 ? MPI_File_write_at_all(file_, call.offset, data, call.count, type, &status)
                 : MPI_File_write_at(file_, call.offset, data, call.count, type, &status);
    } else {
      code = kind.collective
                 ? MPI_File_read_at_all(file_, call.offset, data, call.count, type, &status)
                 : MPI_File_read_at(file_, call.offset, data, call.count, type, &status);
    }
    require(code, kind.direction == Direction::write ? "writing" : "reading");
  }

  Hints hints_;
  std::vector<Types> types_;
  MPI_File file_ = MPI_FILE_NULL;
};

class PlainPass : public FilePass {
 public:
  void open(const std::string& path, Direction direction) override { file_.open(path, direction); }

  void transfer(const Access& access, std::span<std::byte> buffer, Direction direction) override {
    access.runs([&](const Run& run) {
      file_.move(run.file_offset, buffer.subspan(run.buffer_offset, run.length), direction);
    });
  }

  void close(bool sync) override { file_.close(sync); }

 private:
  PlainFile file_;
};

/// Copies between two buffers, as a write or a read through the page cache does at least once.
class CopyPass : public FilePass {
 public:
  void open(const std::string& /*path*/, Direction /*direction*/) override {}

  void transfer(const Access& access, std::span<std::byte> buffer, Direction direction) override {
    if (copy_.size() < access.buffer_bytes) copy_.resize(access.buffer_bytes);
    if (direction == Direction::write) {
      std::memcpy(copy_.data(), buffer.data(), access.buffer_bytes);
    } else {
      std::memcpy(buffer.data(), copy_.data(), access.buffer_bytes);
    }
  }

  void close(bool /*sync*/) override {}

 private:
  std::vector<std::byte> copy_;
};

}  // namespace

MakeHandPass find_hand_pass(const Workload& workload) {
  return workload.name == "block4d" ? hand_block4d : nullptr;
}

std::unique_ptr<FilePass> make_file_pass(const Options& options, const PassPurpose& purpose) {
  switch (options.engine) {
    case Engine::hand:
      return find_hand_pass(purpose.workload)(purpose.geometry);
    case Engine::plain:
      return std::make_unique<PlainPass>();
    case Engine::copy_only:
      return std::make_unique<CopyPass>();
    case Engine::mpi_io:
      break;
  }
  return std::make_unique<MpiIoPass>(options, purpose.access);
}

JsonObject info_in_use(const Options& options) {
  JsonObject result;
  const Hints hints(options);
  MPI_File file = MPI_FILE_NULL;
  MPI_Info info = MPI_INFO_NULL;
  require(MPI_File_open(MPI_COMM_WORLD, options.file.c_str(), MPI_MODE_RDONLY, hints.get(), &file),
          "MPI_File_open");
  require(MPI_File_get_info(file, &info), "MPI_File_get_info");
  int count = 0;
  if (info != MPI_INFO_NULL) MPI_Info_get_nkeys(info, &count);
  for (int i = 0; i < count; ++i) {
    std::array<char, MPI_MAX_INFO_KEY + 1> key{};
    std::array<char, MPI_MAX_INFO_VAL + 1> value{};
    int found = 0;
    MPI_Info_get_nthkey(info, i, key.data());
    MPI_Info_get(info, key.data(), MPI_MAX_INFO_VAL, value.data(), &found);
    if (found != 0) result.add(key.data(), value.data());
  }
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  require(MPI_File_close(&file), "MPI_File_close");
  return result;
}

Measurement run_pass(FilePass& pass, const PassJob& job) {
  Measurement result;
  const auto barrier = [] { require(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier"); };
  reset_peak_memory();
  barrier();
  const double cpu_begin = cpu_seconds();
  const double begin = now_seconds();
  pass.open(job.options.file, job.direction);
  const double opened = now_seconds();
  pass.transfer(job.access, job.buffer, job.direction);
  const double moved = now_seconds();
  if (job.inspect_memory) result.others_memory = shared_memory_of_others();
  const double inspected = now_seconds();
  pass.close(job.options.sync && job.direction == Direction::write);
  const double closed = now_seconds();
  result.cpu_s = cpu_seconds() - cpu_begin;
  barrier();
  const double end = now_seconds();

  result.open_s = opened - begin;
  result.data_s = moved - opened;
  result.close_s = closed - inspected;
  result.total_s = end - begin - (inspected - moved);
  const Memory after = memory();
  result.peak_memory = after.peak - after.file_pages;
  return result;
}

JsonObject summarise(const Measurement& measurement, std::int64_t baseline_bytes) {
  const auto used = static_cast<double>(std::max<std::int64_t>(
      0, measurement.peak_memory - measurement.others_memory - baseline_bytes));
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  JsonObject result;
  result.add("open_s", reduce_max(measurement.open_s));
  result.add("data_s", reduce_max(measurement.data_s));
  result.add("close_s", reduce_max(measurement.close_s));
  result.add("total_s", reduce_max(measurement.total_s));
  result.add("cpu_s", reduce_sum(measurement.cpu_s));
  result.add("memory_mean", reduce_sum(used) / ranks);
  result.add("memory_max", reduce_max(used));
  return result;
}

}  // namespace nacre::bench
