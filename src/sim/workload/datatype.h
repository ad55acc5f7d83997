// Datatype: a datatype as the constructors of MPI make it, described without MPI.
#ifndef NACRE_SIM_WORKLOAD_DATATYPE_H_
#define NACRE_SIM_WORKLOAD_DATATYPE_H_

#include <cstdint>
#include <memory>
#include <vector>

namespace nacre::workload {

/// Nacre-bench makes MPI datatypes of it, the simulator type maps. Immutable; copies share it.
class Datatype {
 public:
  enum class Kind : std::uint8_t { byte, real, contiguous, resized, indexed, structure, subarray };

  /// One dimension of a subarray, in elements.
  struct Dimension {
    std::int64_t size = 0;
    std::int64_t start = 0;
    std::int64_t extent = 0;
  };

  /// MPI_BYTE.
  Datatype() = default;
  /// MPI_DOUBLE.
  [[nodiscard]] static Datatype real();
  [[nodiscard]] static Datatype contiguous(std::int64_t count, const Datatype& element);
  [[nodiscard]] static Datatype bytes(std::int64_t count);
  /// The same bytes with lower bound 0 and this extent.
  [[nodiscard]] static Datatype resized(const Datatype& type, std::int64_t extent_bytes);
  /// MPI_Type_create_hindexed: lengths[i] elements at offsets_bytes[i].
  [[nodiscard]] static Datatype indexed(std::vector<std::int64_t> lengths,
                                        std::vector<std::int64_t> offsets_bytes,
                                        const Datatype& element);
  /// One of each of `types`, at offsets_bytes[i].
  [[nodiscard]] static Datatype structure(std::vector<Datatype> types,
                                          std::vector<std::int64_t> offsets_bytes);
  /// MPI_ORDER_FORTRAN if `is_fortran`: the first dimension is the fastest.
  [[nodiscard]] static Datatype subarray(std::vector<Dimension> dimensions, bool is_fortran,
                                         const Datatype& element);

  // What it was made from:
  [[nodiscard]] Kind kind() const { return node_ == nullptr ? Kind::byte : node_->kind; }
  /// Of contiguous: the count. Of resized: the extent.
  [[nodiscard]] std::int64_t count() const { return node_->count; }
  [[nodiscard]] const std::vector<std::int64_t>& lengths() const { return node_->lengths; }
  [[nodiscard]] const std::vector<std::int64_t>& offsets() const { return node_->offsets; }
  [[nodiscard]] const std::vector<Dimension>& dimensions() const { return node_->dimensions; }
  [[nodiscard]] bool is_fortran() const { return node_->is_fortran; }
  /// Of structure: one for each offset. Of the others: one.
  [[nodiscard]] const std::vector<Datatype>& parts() const { return node_->parts; }

 private:
  struct Node {
    Kind kind = Kind::byte;
    std::int64_t count = 0;
    std::vector<std::int64_t> lengths = {};
    std::vector<std::int64_t> offsets = {};
    std::vector<Dimension> dimensions = {};
    bool is_fortran = false;
    std::vector<Datatype> parts = {};
  };
  [[nodiscard]] static Datatype made(Node node);
  std::shared_ptr<const Node> node_;  // null: byte
};

}  // namespace nacre::workload

#endif  // NACRE_SIM_WORKLOAD_DATATYPE_H_
