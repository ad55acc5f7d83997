#include "mpi/datatypes/datarep.h"

#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "base/checked_cast.h"
#include "file/conversion/external32.h"
#include "mpi/datatypes/named_types.h"

namespace nacre::mpi {
namespace {

/// Never destroyed: programs may close files in exit handlers.
struct Registry {
  std::mutex mutex;
  std::map<std::string, RepresentationPointer> by_name;
};

Registry& registry() {
  static auto* instance = [] {
    auto* made = new Registry;
    made->by_name["native"] = native_representation();
    made->by_name["internal"] =
        std::make_shared<const Representation>(Representation{.name = "internal"});
    made->by_name["external32"] = std::make_shared<const Representation>(
        Representation{.name = "external32", .kind = Representation::Kind::external32});
    return made;
  }();
  return *instance;
}

Error error_of(const Representation& representation, ErrorClass error_class,
               const std::string& what) {
  return {error_class, 0, "data representation \"" + representation.name + "\": " + what};
}

Result<MPI_Count> registered_extent(const Representation& representation, MPI_Datatype named) {
  MPI_Aint extent = 0;
  const int status = representation.extent(named, &extent, representation.extra_state);
  if (status != MPI_SUCCESS || extent < 0) {
    return error_of(representation, ErrorClass::conversion,
                    "the extent function returned " + std::to_string(status) + " and extent " +
                        std::to_string(extent) + " for a predefined datatype");
  }
  return extent;
}

NamedExtent extent_rule(const Representation& representation) {
  if (representation.kind == Representation::Kind::external32) return external32_extent;
  return [&representation](MPI_Datatype named) { return registered_extent(representation, named); };
}

/// Calls the program's conversion functions, for named datatypes with the program's own handles.
class RegisteredConverter final : public file::Converter {
 public:
  RegisteredConverter(RepresentationPointer representation, MPI_Datatype datatype,
                      const DecodedType& in_memory, const DecodedType& in_file)
      : representation_(std::move(representation)),
        datatype_(datatype),
        memory_size_(in_memory.map.size()),
        file_size_(in_file.map.size()),
        element_count_(in_memory.signature.element_count()),
        in_file_(in_file.signature) {}

  Result<std::int64_t> file_bytes(std::int64_t native_bytes) override {
    if (memory_size_ == 0) return 0;
    const auto bytes = checked_multiply(native_bytes / memory_size_, file_size_);
    if (bytes) return *bytes;
    return error_of(*representation_, ErrorClass::count,
                    "the size of the access in the file exceeds 64 bits");
  }

  Status to_file(const plan::MemoryAccess& memory, std::span<std::byte> file) override {
    return convert(representation_->write, memory, file.data(), std::ssize(file));
  }

  plan::StreamPart whole_part(std::int64_t file_bytes) override {
    if (file_size_ == 0) return {};
    if (in_file_.file_size() == file_size_) return plan::whole_elements(in_file_, file_bytes);
    const std::int64_t whole = file_bytes / file_size_;
    return {whole * memory_size_, whole * file_size_, whole * element_count_};
  }

  Status from_file(const plan::MemoryAccess& memory, std::span<const std::byte> file) override {
    // The standard's signature has no const; a read conversion does not change its input.
    return convert(representation_->read, memory, const_cast<std::byte*>(file.data()),
                   std::ssize(file));
  }

 private:
  Status convert(const Conversion& conversion, const plan::MemoryAccess& memory, std::byte* file,
                 std::int64_t bytes) {
    // Entries of the typemap, not copies of the datatype (MPI-4.1, 14.5.3, advice to users).
    const MPI_Count count = whole_part(bytes).element_count;
    if (count == 0) return {};
    int status = MPI_SUCCESS;
    if (conversion.large != nullptr) {
      status = conversion.large(memory.base, datatype_.get(), count, file, 0,
                                representation_->extra_state);
    } else if (count > std::numeric_limits<int>::max()) {
      return error_of(*representation_, ErrorClass::count,
                      "the access has " + std::to_string(count) +
                          " basic elements, more than an int counts; register the conversion "
                          "functions with MPI_Register_datarep_c");
    } else {
      status = conversion.classic(memory.base, datatype_.get(), checked_cast<int>(count), file, 0,
                                  representation_->extra_state);
    }
    if (status == MPI_SUCCESS) return {};
    return error_of(*representation_, ErrorClass::conversion,
                    "the conversion function returned " + std::to_string(status));
  }

  RepresentationPointer representation_;
  KeptDatatype datatype_;
  std::int64_t memory_size_;
  std::int64_t file_size_;
  std::int64_t element_count_;
  plan::TypeSignature in_file_;
};

}  // namespace

RepresentationPointer native_representation() {
  static const auto* representation =
      new RepresentationPointer(std::make_shared<const Representation>());
  return *representation;
}

Result<RepresentationPointer> find_representation(const std::string& name) {
  Registry& known = registry();
  const std::lock_guard guard(known.mutex);
  if (const auto found = known.by_name.find(name); found != known.by_name.end()) {
    return found->second;
  }
  return Error{ErrorClass::unsupported_datarep, 0,
               "data representation \"" + name +
                   "\" is not known; use native, internal, external32 or a name registered with "
                   "MPI_Register_datarep"};
}

Status register_representation(Representation representation) {
  if (representation.name.empty() || representation.name.size() >= MPI_MAX_DATAREP_STRING) {
    return Error{ErrorClass::arg, 0,
                 "MPI_Register_datarep: the name has " +
                     std::to_string(representation.name.size()) + " characters; use 1 to " +
                     std::to_string(MPI_MAX_DATAREP_STRING - 1)};
  }
  if (representation.extent == nullptr) {
    return error_of(representation, ErrorClass::arg,
                    "it has no extent function, which MPI_Register_datarep needs");
  }
  Registry& known = registry();
  const std::lock_guard guard(known.mutex);
  const std::string name = representation.name;
  const bool added =
      known.by_name
          .try_emplace(name, std::make_shared<const Representation>(std::move(representation)))
          .second;
  if (added) return {};
  return Error{ErrorClass::dup_datarep, 0,
               "MPI_Register_datarep: data representation \"" + name +
                   "\" is already registered; choose another name"};
}

Result<plan::TypeMap> map_in_file(const Representation& representation, MPI_Datatype datatype) {
  if (representation.kind != Representation::Kind::as_in_memory) {
    const Result<DecodedType> in_file = decode_as(datatype, extent_rule(representation));
    if (!in_file) return in_file.error();
    return in_file->map;
  }
  const auto decoded = decode(datatype);
  if (!decoded) return decoded.error();
  return (*decoded)->map;
}

Result<std::shared_ptr<file::Converter>> make_converter(const RepresentationPointer& representation,
                                                        plan::Direction direction,
                                                        MPI_Datatype datatype) {
  using Kind = Representation::Kind;
  if (representation->kind == Kind::as_in_memory) return std::shared_ptr<file::Converter>();
  const auto decoded = decode(datatype);
  if (!decoded) return decoded.error();
  if (representation->kind == Kind::external32) {
    return file::external32_converter((*decoded)->signature);
  }
  const Conversion& conversion =
      direction == plan::Direction::read ? representation->read : representation->write;
  if (conversion.none()) return std::shared_ptr<file::Converter>();
  const Result<DecodedType> in_file = decode_as(datatype, extent_rule(*representation));
  if (!in_file) return in_file.error();
  return std::shared_ptr<file::Converter>(
      std::make_shared<RegisteredConverter>(representation, datatype, **decoded, *in_file));
}

}  // namespace nacre::mpi
