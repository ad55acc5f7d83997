#include "sim/program/workload_calls.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/checked_cast.h"
#include "plan/types/array_types.h"

namespace nacre::sim {
namespace {

using plan::TypeMap;
using workload::Datatype;

TypeMap structure_of(const Datatype& type) {
  std::vector<TypeMap::Field> fields;
  for (std::size_t i = 0; i < type.parts().size(); ++i) {
    fields.push_back({type.offsets()[i], 1, type_map_of(type.parts()[i]).node()});
  }
  return TypeMap::structure(fields).value();
}

TypeMap subarray_of(const Datatype& type) {
  std::vector<plan::SubarrayDimension> dimensions;
  for (const Datatype::Dimension& one : type.dimensions()) {
    dimensions.push_back({.size = one.size, .subsize = one.extent, .start = one.start});
  }
  const auto order = type.is_fortran() ? plan::ArrayOrder::fortran : plan::ArrayOrder::c;
  return plan::subarray(dimensions, order, type_map_of(type.parts().front())).value();
}

CallSeries series_of(const workload::Step& step) {
  CallSeries series;
  series.is_collective = step.collective;
  series.view = {type_map_of(step.filetype), step.displacement};
  series.memory = type_map_of(step.memory);
  const std::int64_t etype_bytes = type_map_of(step.etype).size();
  for (const workload::Transfer& call : step.transfers) {
    series.calls.push_back({.offset_bytes = call.offset * etype_bytes,
                            .bytes = call.count * series.memory.size(),
                            .buffer_offset = checked_cast<std::int64_t>(call.buffer_offset)});
  }
  return series;
}

}  // namespace

TypeMap type_map_of(const Datatype& type) {
  switch (type.kind()) {
    case Datatype::Kind::byte:
      return TypeMap::bytes(1);
    case Datatype::Kind::real:
      return TypeMap::bytes(sizeof(double));
    case Datatype::Kind::contiguous: {
      const TypeMap element = type_map_of(type.parts().front());
      return TypeMap::repeat(element, type.count(), element.extent()).value();
    }
    case Datatype::Kind::resized:
      return type_map_of(type.parts().front()).resized(0, type.count()).value();
    case Datatype::Kind::indexed:
      return TypeMap::indexed(type_map_of(type.parts().front()), type.lengths(), type.offsets())
          .value();
    case Datatype::Kind::structure:
      return structure_of(type);
    case Datatype::Kind::subarray:
      break;
  }
  return subarray_of(type);
}

std::vector<CallSeries> calls_of(const workload::Access& access) {
  std::vector<CallSeries> all;
  all.reserve(access.steps.size());
  for (const workload::Step& step : access.steps) all.push_back(series_of(step));
  return all;
}

}  // namespace nacre::sim
