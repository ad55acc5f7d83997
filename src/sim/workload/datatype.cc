#include "sim/workload/datatype.h"

#include <utility>

namespace nacre::workload {

Datatype Datatype::made(Node node) {
  Datatype type;
  type.node_ = std::make_shared<const Node>(std::move(node));
  return type;
}

Datatype Datatype::real() { return made({.kind = Kind::real}); }

Datatype Datatype::contiguous(std::int64_t count, const Datatype& element) {
  return made({.kind = Kind::contiguous, .count = count, .parts = {element}});
}

Datatype Datatype::bytes(std::int64_t count) { return contiguous(count, Datatype()); }

Datatype Datatype::resized(const Datatype& type, std::int64_t extent_bytes) {
  return made({.kind = Kind::resized, .count = extent_bytes, .parts = {type}});
}

Datatype Datatype::indexed(std::vector<std::int64_t> lengths,
                           std::vector<std::int64_t> offsets_bytes, const Datatype& element) {
  return made({.kind = Kind::indexed,
               .lengths = std::move(lengths),
               .offsets = std::move(offsets_bytes),
               .parts = {element}});
}

Datatype Datatype::structure(std::vector<Datatype> types, std::vector<std::int64_t> offsets_bytes) {
  return made(
      {.kind = Kind::structure, .offsets = std::move(offsets_bytes), .parts = std::move(types)});
}

Datatype Datatype::subarray(std::vector<Dimension> dimensions, bool is_fortran,
                            const Datatype& element) {
  return made({.kind = Kind::subarray,
               .dimensions = std::move(dimensions),
               .is_fortran = is_fortran,
               .parts = {element}});
}

}  // namespace nacre::workload
