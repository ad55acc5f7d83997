#include "mpi/datatypes/datatype.h"

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/checked_cast.h"
#include "mpi/datatypes/envelope.h"
#include "mpi/datatypes/named_types.h"
#include "plan/types/array_types.h"

namespace nacre::mpi {
namespace {

using plan::TypeMap;
using plan::TypeSignature;

Error type_error(const std::string& what) { return Error{ErrorClass::type, 0, what}; }

/// The arguments of a constructor call. `numbers` holds counts, lengths and displacements in the
/// order of the constructor's arguments, from the integers and addresses of the classic form or the
/// counts of the large-count form. Both forms agree on the order, except for the two array
/// constructors, which are read with the help of `integers`.
struct Constructor {
  int combiner = 0;
  bool large = false;
  std::vector<int> integers;
  std::vector<std::int64_t> numbers;
  std::vector<MPI_Datatype> types;

  Constructor() = default;
  Constructor(Constructor&&) = default;
  Constructor& operator=(Constructor&&) = delete;
  /// MPI_Type_get_contents returns references, to be freed if derived.
  ~Constructor() {
    for (MPI_Datatype& type : types) {
      if (!is_named(type)) native().Type_free(&type);
    }
  }
};

Result<Constructor> constructor_of(MPI_Datatype datatype, const Envelope& envelope) {
  Constructor made;
  made.combiner = envelope.combiner;
  made.large = envelope.large_count > 0;
  made.integers.resize(static_cast<std::size_t>(envelope.integer_count));
  made.types.resize(static_cast<std::size_t>(envelope.type_count), native().DATATYPE_NULL);
  std::vector<MPI_Aint> addresses(static_cast<std::size_t>(envelope.address_count));
  std::vector<MPI_Count> counts(static_cast<std::size_t>(envelope.large_count));
  const int status =
      made.large
          ? native().Type_get_contents_c(datatype, envelope.integer_count, envelope.address_count,
                                         envelope.large_count, envelope.type_count,
                                         made.integers.data(), addresses.data(), counts.data(),
                                         made.types.data())
          : native().Type_get_contents(datatype, checked_cast<int>(envelope.integer_count),
                                       checked_cast<int>(envelope.address_count),
                                       checked_cast<int>(envelope.type_count), made.integers.data(),
                                       addresses.data(), made.types.data());
  if (status != MPI_SUCCESS) return type_error("MPI_Type_get_contents failed for the datatype");
  if (made.large) {
    made.numbers.assign(counts.begin(), counts.end());
  } else {
    made.numbers.assign(made.integers.begin(), made.integers.end());
    made.numbers.insert(made.numbers.end(), addresses.begin(), addresses.end());
  }
  return made;
}

/// Builds type maps and signatures bottom up, each inner type once.
class Decoder {
 public:
  explicit Decoder(const NamedExtent* extent) : extent_(extent) {}

  Result<DecodedType> decode(MPI_Datatype datatype) {
    if (datatype == native().DATATYPE_NULL) return type_error("the datatype is MPI_DATATYPE_NULL");
    if (const auto found = done_.find(datatype); found != done_.end()) return found->second;
    Result<DecodedType> decoded = decode_new(datatype);
    if (decoded && extent_ == nullptr) take_bounds_of(datatype, *decoded);
    if (decoded) done_.emplace(datatype, *decoded);
    return decoded;
  }

 private:
  Result<DecodedType> decode_new(MPI_Datatype datatype) {
    const Result<Envelope> envelope = envelope_of(datatype);
    if (!envelope) return envelope.error();
    if (is_named_combiner(envelope->combiner)) return leaf(datatype);
    Result<Constructor> read = constructor_of(datatype, *envelope);
    if (!read) return std::move(read).error();
    const Constructor* made = &kept_.emplace_back(*std::move(read));
    if (made->combiner == MPI_COMBINER_STRUCT) return structure(*made);
    if (made->types.size() != 1) return several(*made);

    const Result<DecodedType> child = decode(made->types[0]);
    if (!child) return child.error();
    Result<TypeMap> map = derived(*made, child->map);
    if (!map) return std::move(map).error();
    const std::int64_t copies = child->map.size() == 0 ? 0 : map->size() / child->map.size();
    return DecodedType{*std::move(map), child->signature.repeated(copies)};
  }

  /// Takes the bounds from the MPI: MPIs differ in whether the bounds of an inner resized type (or
  /// an old MPI_LB, MPI_UB) apply to the outer type.
  static void take_bounds_of(MPI_Datatype datatype, DecodedType& decoded) {
    MPI_Count lb = 0;
    MPI_Count extent = 0;
    if (native().Type_get_extent_x(datatype, &lb, &extent) != MPI_SUCCESS) return;
    if (lb == decoded.map.lb() && extent == decoded.map.extent()) return;
    if (Result<TypeMap> resized = decoded.map.resized(lb, extent)) {
      decoded.map = *std::move(resized);
    }
  }

  Result<DecodedType> leaf(MPI_Datatype datatype) const {
    Result<DecodedType> named = named_type(datatype);
    if (!named || extent_ == nullptr) return named;
    const Result<MPI_Count> bytes = (*extent_)(datatype);
    if (!bytes) return bytes.error();
    named->signature = signature_in_file(named->signature, *bytes);
    named->map = TypeMap::bytes(*bytes);
    return named;
  }

  /// Empty for a pair: the sizes of its parts in the file are unknown.
  static TypeSignature signature_in_file(const TypeSignature& named, MPI_Count bytes) {
    if (named.element_count() != 1 || !std::in_range<std::uint32_t>(bytes)) return {};
    return TypeSignature::basic({plan::BasicKind::opaque,
                                 checked_cast<std::uint8_t>(named.native_size()),
                                 checked_cast<std::uint32_t>(bytes)});
  }

  /// The constructors of one inner type. Displacements in elements scale with the inner type's
  /// extent.
  static Result<TypeMap> derived(const Constructor& made, const TypeMap& child) {
    const std::span<const std::int64_t> n = made.numbers;
    const auto blocks = [&] { return static_cast<std::size_t>(n[0]); };
    switch (made.combiner) {
      case MPI_COMBINER_DUP:
        return child;
      case MPI_COMBINER_CONTIGUOUS:
        return TypeMap::repeat(child, n[0], child.extent());
      case MPI_COMBINER_VECTOR:
        return vector(child, n, child.extent());
      case MPI_COMBINER_HVECTOR:
        return vector(child, n, 1);
      case MPI_COMBINER_INDEXED:
        return indexed(child, n.subspan(1, blocks()), n.subspan(1 + blocks(), blocks()),
                       child.extent());
      case MPI_COMBINER_HINDEXED:
        return indexed(child, n.subspan(1, blocks()), n.subspan(1 + blocks(), blocks()), 1);
      case MPI_COMBINER_INDEXED_BLOCK:
        return indexed(child, std::vector(blocks(), n[1]), n.subspan(2, blocks()), child.extent());
      case MPI_COMBINER_HINDEXED_BLOCK:
        return indexed(child, std::vector(blocks(), n[1]), n.subspan(2, blocks()), 1);
      case MPI_COMBINER_RESIZED:
        return child.resized(n[0], n[1]);
      case MPI_COMBINER_SUBARRAY:
        return subarray(made, child);
      case MPI_COMBINER_DARRAY:
        return darray(made, child);
      default:
        return unknown(made);
    }
  }

  static Error unknown(const Constructor& made) {
    return type_error("the datatype was made by a constructor that Nacre does not know (combiner " +
                      std::to_string(made.combiner) + ")");
  }

  /// count, block length, stride in `unit` bytes.
  static Result<TypeMap> vector(const TypeMap& child, std::span<const std::int64_t> n,
                                std::int64_t unit) {
    const Result<TypeMap> block = TypeMap::repeat(child, n[1], child.extent());
    const std::optional<std::int64_t> stride = checked_multiply(n[2], unit);
    if (!block) return block.error();
    if (!stride) return type_error("the stride of the vector datatype exceeds 64 bits");
    return TypeMap::repeat(*block, n[0], *stride);
  }

  /// Displacements in `unit` bytes.
  static Result<TypeMap> indexed(const TypeMap& child, std::span<const std::int64_t> lengths,
                                 std::span<const std::int64_t> displacements, std::int64_t unit) {
    std::vector<std::int64_t> bytes(displacements.begin(), displacements.end());
    for (std::int64_t& displacement : bytes) {
      const std::optional<std::int64_t> product = checked_multiply(displacement, unit);
      if (!product) return type_error("a displacement of the datatype exceeds 64 bits");
      displacement = *product;
    }
    return TypeMap::indexed(child, lengths, bytes);
  }

  /// Sizes, subsizes, starts.
  static Result<TypeMap> subarray(const Constructor& made, const TypeMap& child) {
    const auto rank = static_cast<std::size_t>(made.integers[0]);
    const std::span<const std::int64_t> values =
        std::span(made.numbers).subspan(made.large ? 0 : 1);
    std::vector<plan::SubarrayDimension> dimensions(rank);
    for (std::size_t d = 0; d < rank; ++d) {
      dimensions[d] = {values[d], values[rank + d], values[2 * rank + d]};
    }
    return plan::subarray(dimensions, order_of(made.integers.back()), child);
  }

  static plan::ArrayOrder order_of(int order) {
    return order == MPI_ORDER_FORTRAN ? plan::ArrayOrder::fortran : plan::ArrayOrder::c;
  }

  static plan::Distribution distribution_of(int distribution) {
    if (distribution == MPI_DISTRIBUTE_BLOCK) return plan::Distribution::block;
    if (distribution == MPI_DISTRIBUTE_CYCLIC) return plan::Distribution::cyclic;
    return plan::Distribution::none;
  }

  /// Processes, own number, dimensions; global sizes; distributions, arguments, process grid,
  /// order.
  static Result<TypeMap> darray(const Constructor& made, const TypeMap& child) {
    const auto rank = static_cast<std::size_t>(made.integers[2]);
    const std::span<const int> tail = std::span(made.integers).subspan(made.large ? 3 : 3 + rank);
    const std::span<const std::int64_t> sizes =
        std::span(made.numbers).subspan(made.large ? 0 : 3, rank);
    std::vector<plan::DarrayDimension> dimensions(rank);
    int remaining = made.integers[1];  // own number in the process grid, which is always in C order
    for (std::size_t d = rank; d-- > 0;) {
      const int argument = tail[rank + d];
      const int processes = tail[2 * rank + d];
      dimensions[d] = {
          sizes[d], distribution_of(tail[d]),
          argument == MPI_DISTRIBUTE_DFLT_DARG ? plan::DarrayDimension::default_argument : argument,
          processes, remaining % processes};
      remaining /= processes;
    }
    return plan::darray(dimensions, order_of(tail[3 * rank]), child);
  }

  /// count, block lengths, displacements in bytes; one type a field.
  Result<DecodedType> structure(const Constructor& made) {
    const auto count = static_cast<std::size_t>(made.numbers[0]);
    const std::span<const std::int64_t> lengths = std::span(made.numbers).subspan(1, count);
    const std::span<const std::int64_t> displacements =
        std::span(made.numbers).subspan(1 + count, count);
    std::vector<TypeMap::Field> fields;
    std::vector<TypeSignature> signatures;
    for (std::size_t i = 0; i < count; ++i) {
      const Result<DecodedType> field = decode(made.types[i]);
      if (!field) return field.error();
      fields.push_back({displacements[i], lengths[i], field->map.node()});
      signatures.push_back(field->signature.repeated(lengths[i]));
    }
    Result<TypeMap> map = TypeMap::structure(fields);
    if (!map) return std::move(map).error();
    return DecodedType{*std::move(map), TypeSignature::concatenated(signatures)};
  }

  /// MPI_Type_get_value_index (MPI-4.1): a pair of a value and an index, as the C struct of the
  /// two.
  Result<DecodedType> several(const Constructor& made) {
    if (made.types.size() != 2) return unknown(made);
    const Result<DecodedType> value = decode(made.types[0]);
    const Result<DecodedType> index = decode(made.types[1]);
    if (!value) return value.error();
    if (!index) return index.error();
    return pair_type(*value, *index);
  }

  const NamedExtent* extent_;
  std::unordered_map<MPI_Datatype, DecodedType> done_;
  /// All constructors read so far. Open MPI returns duplicates of inner types: if they were freed
  /// one by one, it would reuse their handles for other types, which done_ would confuse.
  std::deque<Constructor> kept_;
};

using Shared = std::shared_ptr<const DecodedType>;

int delete_cached(MPI_Datatype, int, void* value, void*) {
  delete static_cast<Shared*>(value);
  return MPI_SUCCESS;
}

/// A duplicate of a datatype shares the decoded type.
// NOLINTNEXTLINE(readability-function-size): MPI's parameters
int copy_cached(MPI_Datatype, int, void*, void* value, void* copy, int* flag) {
  *static_cast<void**>(copy) = new Shared(*static_cast<Shared*>(value));
  *flag = 1;
  return MPI_SUCCESS;
}

int cache_key() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    native().Type_create_keyval(copy_cached, delete_cached, &made, nullptr);
    return made;
  }();
  return key;
}

/// Held while reading or setting a datatype's attribute: two threads may decode one datatype.
std::mutex& cache_mutex() {
  static auto* instance = new std::mutex;
  return *instance;
}

/// With the lock held. Null if the datatype has not been decoded.
Shared find_cached(MPI_Datatype datatype) {
  void* cached = nullptr;
  int found = 0;
  native().Type_get_attr(datatype, cache_key(), static_cast<void*>(&cached), &found);
  return found != 0 ? *static_cast<Shared*>(cached) : nullptr;
}

}  // namespace

Result<Shared> decode(MPI_Datatype datatype) {
  if (const Shared* named = find_named_type(datatype)) return *named;
  if (datatype == native().DATATYPE_NULL) return type_error("the datatype is MPI_DATATYPE_NULL");
  {
    const std::lock_guard guard(cache_mutex());
    if (Shared cached = find_cached(datatype)) return cached;
  }
  Result<DecodedType> decoded = Decoder(nullptr).decode(datatype);
  if (!decoded) return std::move(decoded).error();
  auto shared = std::make_shared<const DecodedType>(*std::move(decoded));
  const std::lock_guard guard(cache_mutex());
  if (Shared cached = find_cached(datatype)) return cached;
  auto* attribute = new Shared(shared);
  if (native().Type_set_attr(datatype, cache_key(), attribute) != MPI_SUCCESS) delete attribute;
  return shared;
}

KeptDatatype::KeptDatatype(MPI_Datatype datatype) : handle_(datatype) {
  if (is_named(datatype)) return;
  native().Type_dup(datatype, &handle_);
  duplicate_ = std::shared_ptr<void>(nullptr, [duplicate = handle_](void*) mutable {
    if (!mpi_is_finalizing()) native().Type_free(&duplicate);
  });
}

Result<DecodedType> decode_as(MPI_Datatype datatype, const NamedExtent& extent) {
  return Decoder(&extent).decode(datatype);
}

}  // namespace nacre::mpi
