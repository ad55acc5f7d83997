// TypeSignature: the basic types along a datatype's data stream, for data representations that
// convert (MPI-4.1, 14.5.2 and 14.5.3). Compact: repeats are counted, never unrolled.
#ifndef NACRE_PLAN_TYPES_TYPE_SIGNATURE_H_
#define NACRE_PLAN_TYPES_TYPE_SIGNATURE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "base/result.h"

namespace nacre::plan {

/// How the bytes of a basic type are turned from one representation into another.
enum class BasicKind : std::uint8_t {
  opaque,            ///< bytes, characters, packed: copied
  signed_integer,    ///< two's complement; widened by sign
  unsigned_integer,  ///< widened by zero
  boolean,           ///< 0 or 1, of any width; a Fortran LOGICAL keeps its bit pattern
  real,              ///< IEEE 754 of 2, 4, 8 or 16 bytes
  long_double,       ///< C's long double: x87 extended here, binary128 in external32
};

/// One basic type: its kind, and its sizes in memory and in the file (in external32, unless it is
/// made for another representation). A complex type has two parts of these sizes.
struct BasicType {
  BasicKind kind = BasicKind::opaque;
  std::uint8_t native_size = 1;
  std::uint32_t file_size = 1;
  std::uint8_t parts = 1;  ///< converted one by one, never separated
  friend bool operator==(const BasicType&, const BasicType&) = default;
};

/// Elements that follow each other in a stream: their bytes in memory and in the file. A number
/// beyond 64 bits stays at the largest one; no datatype has it.
struct StreamPart {
  std::int64_t native_bytes = 0;
  std::int64_t file_bytes = 0;
  std::int64_t element_count = 0;
  friend bool operator==(const StreamPart&, const StreamPart&) = default;
};

/// An immutable value; copies share. Concatenation and repetition of basic types.
class TypeSignature {
 public:
  TypeSignature() = default;
  [[nodiscard]] static TypeSignature basic(BasicType type, std::int64_t count = 1);
  [[nodiscard]] TypeSignature repeated(std::int64_t count) const;
  [[nodiscard]] static TypeSignature concatenated(std::span<const TypeSignature> parts);

  /// One copy.
  [[nodiscard]] StreamPart total() const;
  [[nodiscard]] std::int64_t native_size() const { return total().native_bytes; }
  [[nodiscard]] std::int64_t file_size() const { return total().file_bytes; }
  /// The number that MPI_Get_elements counts; a complex is one element.
  [[nodiscard]] std::int64_t element_count() const { return total().element_count; }
  /// The basic elements that lie whole in the first `file_bytes` of one copy in the file. One copy
  /// has more than `file_bytes`.
  [[nodiscard]] TypeSignature beginning(std::int64_t file_bytes) const;

  struct Node;
  [[nodiscard]] const std::shared_ptr<const Node>& node() const { return node_; }

 private:
  explicit TypeSignature(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

/// The basic elements that lie whole in the first `file_bytes` of the stream in the file: the
/// elements that a read up to the end of the file has read.
[[nodiscard]] StreamPart whole_elements(const TypeSignature& signature, std::int64_t file_bytes);

/// Converts `count` copies of the signature between the native stream (packed, host order) and the
/// external32 stream (packed, big-endian, sizes of MPI-4.1 Table 14.2). The spans are as long as
/// the copies. ErrorClass::conversion if an integer does not fit the narrower side.
[[nodiscard]] Status to_external32(const TypeSignature& signature, std::int64_t count,
                                   std::span<const std::byte> native,
                                   std::span<std::byte> external);
[[nodiscard]] Status from_external32(const TypeSignature& signature, std::int64_t count,
                                     std::span<const std::byte> external,
                                     std::span<std::byte> native);

}  // namespace nacre::plan

#endif  // NACRE_PLAN_TYPES_TYPE_SIGNATURE_H_
