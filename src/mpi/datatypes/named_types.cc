#include "mpi/datatypes/named_types.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/rounding.h"
#include "mpi/datatypes/envelope.h"

namespace nacre::mpi {
namespace {

using plan::BasicKind;
using plan::BasicType;
using plan::TypeMap;
using plan::TypeSignature;
using Shared = std::shared_ptr<const DecodedType>;

/// A predefined datatype as `count` basic elements of one kind.
struct NamedRow {
  MPI_Datatype Native::*datatype;
  BasicKind kind;
  int external32_size = 0;  ///< of one part of an element (MPI-4.1, Table 14.2)
  int count = 1;            ///< 2 for pairs of equals
  int parts = 1;            ///< of one element: 2 for complex types
};

constexpr auto opaque = BasicKind::opaque;
constexpr auto sint = BasicKind::signed_integer;
constexpr auto uint = BasicKind::unsigned_integer;
constexpr auto boolean = BasicKind::boolean;
constexpr auto real = BasicKind::real;

constexpr auto named_rows = std::to_array<NamedRow>({
    {&Native::BYTE, opaque, 1},
    {&Native::PACKED, opaque, 1},
    {&Native::CHAR, opaque, 1},
    {&Native::SIGNED_CHAR, opaque, 1},
    {&Native::UNSIGNED_CHAR, opaque, 1},
    {&Native::CHARACTER, opaque, 1},
    {&Native::SHORT, sint, 2},
    {&Native::UNSIGNED_SHORT, uint, 2},
    {&Native::INT, sint, 4},
    {&Native::UNSIGNED, uint, 4},
    {&Native::LONG, sint, 4},
    {&Native::UNSIGNED_LONG, uint, 4},
    {&Native::LONG_LONG, sint, 8},
    {&Native::UNSIGNED_LONG_LONG, uint, 8},
    {&Native::INT8_T, sint, 1},
    {&Native::UINT8_T, uint, 1},
    {&Native::INT16_T, sint, 2},
    {&Native::UINT16_T, uint, 2},
    {&Native::INT32_T, sint, 4},
    {&Native::UINT32_T, uint, 4},
    {&Native::INT64_T, sint, 8},
    {&Native::UINT64_T, uint, 8},
    {&Native::AINT, sint, 8},
    {&Native::COUNT, sint, 8},
    {&Native::OFFSET, sint, 8},
    {&Native::WCHAR, uint, 2},
    {&Native::INTEGER, sint, 4},
    {&Native::INTEGER1, sint, 1},
    {&Native::INTEGER2, sint, 2},
    {&Native::INTEGER4, sint, 4},
    {&Native::INTEGER8, sint, 8},
    {&Native::INTEGER16, sint, 16},
    {&Native::LOGICAL1, boolean, 1},
    {&Native::LOGICAL2, boolean, 2},
    {&Native::LOGICAL4, boolean, 4},
    {&Native::LOGICAL8, boolean, 8},
    {&Native::LOGICAL, boolean, 4},
    {&Native::C_BOOL, boolean, 1},
    {&Native::CXX_BOOL, boolean, 1},
    {&Native::TWOINT, sint, 4, 2},
    {&Native::TWOINTEGER, sint, 4, 2},
    {&Native::FLOAT, real, 4},
    {&Native::DOUBLE, real, 8},
    {&Native::LONG_DOUBLE, BasicKind::long_double, 16},
    {&Native::REAL, real, 4},
    {&Native::DOUBLE_PRECISION, real, 8},
    {&Native::REAL2, real, 2},
    {&Native::REAL4, real, 4},
    {&Native::REAL8, real, 8},
    {&Native::REAL16, real, 16},
    {&Native::C_COMPLEX, real, 4, 1, 2},
    {&Native::C_FLOAT_COMPLEX, real, 4, 1, 2},
    {&Native::C_DOUBLE_COMPLEX, real, 8, 1, 2},
    {&Native::C_LONG_DOUBLE_COMPLEX, BasicKind::long_double, 16, 1, 2},
    {&Native::CXX_FLOAT_COMPLEX, real, 4, 1, 2},
    {&Native::CXX_DOUBLE_COMPLEX, real, 8, 1, 2},
    {&Native::CXX_LONG_DOUBLE_COMPLEX, BasicKind::long_double, 16, 1, 2},
    {&Native::COMPLEX, real, 4, 1, 2},
    {&Native::DOUBLE_COMPLEX, real, 8, 1, 2},
    {&Native::COMPLEX4, real, 2, 1, 2},
    {&Native::COMPLEX8, real, 4, 1, 2},
    {&Native::COMPLEX16, real, 8, 1, 2},
    {&Native::COMPLEX32, real, 16, 1, 2},
    {&Native::TWOREAL, real, 4, 2},
    {&Native::TWOCOMPLEX, real, 4, 2, 2},
    {&Native::TWODOUBLE_COMPLEX, real, 8, 2, 2},
    {&Native::TWODOUBLE_PRECISION, real, 8, 2},
});

/// A value of the second type and an MPI_INT.
struct PairRow {
  MPI_Datatype Native::*datatype;
  MPI_Datatype Native::*value;
};

constexpr auto pair_rows = std::to_array<PairRow>({
    {&Native::FLOAT_INT, &Native::FLOAT},
    {&Native::DOUBLE_INT, &Native::DOUBLE},
    {&Native::LONG_INT, &Native::LONG},
    {&Native::SHORT_INT, &Native::SHORT},
    {&Native::LONG_DOUBLE_INT, &Native::LONG_DOUBLE},
});

DecodedType elements_of(const NamedRow& row) {
  int size = 0;
  native().Type_size(native().*row.datatype, &size);
  const BasicType basic{row.kind, static_cast<std::uint8_t>(size / (row.count * row.parts)),
                        static_cast<std::uint32_t>(row.external32_size),
                        static_cast<std::uint8_t>(row.parts)};
  return {TypeMap::bytes(size), TypeSignature::basic(basic, row.count)};
}

Result<DecodedType> pair_of(const PairRow& row) {
  const Result<DecodedType> value = named_type(native().*row.value);
  if (!value) return value.error();
  const Result<DecodedType> index = named_type(native().INT);
  if (!index) return index.error();
  return pair_type(*value, *index);
}

int combiner_of(MPI_Datatype datatype) {
  const Result<Envelope> envelope = envelope_of(datatype);
  return envelope ? envelope->combiner : MPI_COMBINER_NAMED;
}

/// The types of MPI_Type_create_f90_*, which have no names; opaque elements for types that an MPI
/// adds.
TypeSignature unnamed_signature(MPI_Datatype datatype, int size) {
  if (size == 0) return {};
  const int combiner = combiner_of(datatype);
  BasicKind kind = opaque;
  if (combiner == MPI_COMBINER_F90_INTEGER) kind = sint;
  if (combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX) kind = real;
  const int parts = combiner == MPI_COMBINER_F90_COMPLEX ? 2 : 1;
  return TypeSignature::basic({kind, static_cast<std::uint8_t>(size / parts),
                               static_cast<std::uint32_t>(size / parts),
                               static_cast<std::uint8_t>(parts)});
}

/// Decoded when a program first uses the type: an MPI without Fortran ends the program that asks
/// for the size of a Fortran type.
struct NamedEntry {
  std::function<Result<DecodedType>()> decode;
  std::once_flag once;
  Shared decoded;  ///< null if the MPI could not size it
  std::atomic<bool> is_decoded = false;
};

using NamedTable = std::unordered_map<MPI_Datatype, NamedEntry>;

/// Never destroyed: files are closed in exit handlers too.
NamedTable& named_table() {
  static auto* table = [] {
    const Native& mpi = native();
    auto* made = new NamedTable;
    for (const NamedRow& row : named_rows) {
      (*made)[mpi.*row.datatype].decode = [&row] { return elements_of(row); };
    }
    for (const PairRow& row : pair_rows) {
      (*made)[mpi.*row.datatype].decode = [&row] { return pair_of(row); };
    }
    made->erase(mpi.DATATYPE_NULL);  // stands for datatypes that the MPI lacks
    return made;
  }();
  return *table;
}

}  // namespace

const Shared* find_named_type(MPI_Datatype datatype) {
  NamedTable& table = named_table();
  const auto found = table.find(datatype);
  if (found == table.end()) return nullptr;
  NamedEntry& entry = found->second;
  if (!entry.is_decoded.load(std::memory_order_acquire)) {
    std::call_once(entry.once, [&] {
      Result<DecodedType> decoded = entry.decode();
      if (decoded) entry.decoded = std::make_shared<const DecodedType>(*std::move(decoded));
      entry.is_decoded.store(true, std::memory_order_release);
    });
  }
  return entry.decoded == nullptr ? nullptr : &entry.decoded;
}

Result<DecodedType> named_type(MPI_Datatype datatype) {
  if (const Shared* named = find_named_type(datatype)) return **named;
  int size = 0;
  if (native().Type_size(datatype, &size) != MPI_SUCCESS) {
    return Error{ErrorClass::type, 0, "MPI_Type_size failed for a predefined datatype"};
  }
  return DecodedType{TypeMap::bytes(size), unnamed_signature(datatype, size)};
}

Result<DecodedType> pair_type(const DecodedType& value, const DecodedType& index) {
  const std::int64_t alignment = std::max<std::int64_t>(index.map.extent(), 1);
  const std::int64_t index_offset = round_up(value.map.extent(), alignment);
  const std::int64_t widest = std::max(alignment, value.map.extent());
  const std::int64_t end = index_offset + index.map.extent();
  const std::array<TypeMap::Field, 2> fields{
      {{0, 1, value.map.node()}, {index_offset, 1, index.map.node()}}};
  const Result<TypeMap> packed = TypeMap::structure(fields);
  if (!packed) return packed.error();
  Result<TypeMap> padded = packed->resized(0, round_up(end, widest));
  if (!padded) return std::move(padded).error();
  const std::array<TypeSignature, 2> parts{value.signature, index.signature};
  return DecodedType{*std::move(padded), TypeSignature::concatenated(parts)};
}

Result<MPI_Count> external32_extent(MPI_Datatype named) {
  const Result<DecodedType> decoded = named_type(named);
  if (!decoded) return decoded.error();
  return decoded->signature.file_size();
}

bool is_named(MPI_Datatype datatype) {
  return datatype == native().DATATYPE_NULL || find_named_type(datatype) != nullptr ||
         is_named_combiner(combiner_of(datatype));
}

bool is_named_combiner(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

}  // namespace nacre::mpi
