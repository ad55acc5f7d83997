#include <utility>

#include "sim/workload/applications.h"
#include "sim/workload/shapes.h"

namespace nacre::workload {
namespace {

constexpr int time_steps = 20;
constexpr int arrays_a_step = 3;

constexpr int variables = 24;
// About the bytes of the netCDF formats for the dimensions, and for one variable with attributes.
constexpr std::int64_t preamble_bytes = 96;
constexpr std::int64_t entry_bytes = 256;
constexpr std::int64_t header_bytes = preamble_bytes + variables * entry_bytes;
// The number of records: the second word of the file.
constexpr std::int64_t count_offset = 4;
constexpr int count_bytes = 4;

/// Independent writes of the header if `calls`, which is true on rank 0 only. The header is at the
/// front of the buffer of rank 0.
Step header_step(bool calls) {
  Step step;
  step.collective = false;
  if (!calls) return step;
  step.transfers.push_back({0, 0, static_cast<int>(preamble_bytes)});
  for (int variable = 0; variable < variables; ++variable) {
    const std::int64_t offset = preamble_bytes + variable * entry_bytes;
    step.transfers.push_back({offset, size(offset), static_cast<int>(entry_bytes)});
  }
  return step;
}

Step count_step(bool calls) {
  Step step;
  step.collective = false;
  if (calls) step.transfers.push_back({count_offset, size(count_offset), count_bytes});
  return step;
}

}  // namespace

Access steps(const Geometry& geometry) {
  constexpr int arrays = time_steps * arrays_a_step;
  const auto block =
      cube_block(geometry, static_cast<double>(geometry.bytes) / arrays, sizeof(double));
  return access_blocks(block, Datatype::real(), in_c_order, arrays);
}

Access header(const Geometry& geometry) {
  const auto block =
      cube_block(geometry, static_cast<double>(geometry.bytes) / variables, sizeof(double));
  Access data = access_blocks(block, Datatype::real(), in_c_order, variables);
  const Step& all = data.steps.front();
  const bool writes_header = geometry.rank == 0;
  const std::size_t buffer_begin = writes_header ? size(header_bytes) : 0;
  const std::int64_t variable_bytes = data.file_bytes / variables;

  Access result;
  result.buffer_bytes = buffer_begin + data.buffer_bytes;
  result.file_bytes = header_bytes + data.file_bytes;
  result.runs = [=, of_data = data.runs](const RunVisitor& visit) {
    if (writes_header) visit({0, 0, size(header_bytes)});
    of_data([&](const Run& run) {
      visit({header_bytes + run.file_offset, buffer_begin + run.buffer_offset, run.length});
    });
  };
  result.steps.push_back(header_step(writes_header));
  for (int variable = 0; variable < variables; ++variable) {
    Step step = all;
    step.displacement = header_bytes + variable * variable_bytes;
    Transfer call = all.transfers[size(variable)];
    call.offset = 0;
    call.buffer_offset += buffer_begin;
    step.transfers = {call};
    result.steps.push_back(std::move(step));
    result.steps.push_back(count_step(writes_header));
  }
  return result;
}

}  // namespace nacre::workload
