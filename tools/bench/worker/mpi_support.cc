#include "mpi_support.h"

#include <array>
#include <cstdio>
#include <vector>

namespace nacre::bench {

void require(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  std::fprintf(stderr, "nacre-bench worker: %s: %s\n", what, text.data());
  MPI_Abort(MPI_COMM_WORLD, 2);
}

MpiType MpiType::made(MPI_Datatype type) {
  require(MPI_Type_commit(&type), "MPI_Type_commit");
  MpiType result;
  result.type_ = {new MPI_Datatype(type), [](MPI_Datatype* owned) {
                    MPI_Type_free(owned);
                    delete owned;
                  }};
  return result;
}

MpiType MpiType::predefined(MPI_Datatype type) {
  MpiType result;
  result.type_ = std::make_shared<MPI_Datatype>(type);
  return result;
}

MpiType MpiType::of(const workload::Datatype& description) {
  using Kind = workload::Datatype::Kind;
  if (description.kind() == Kind::byte) return predefined(MPI_BYTE);
  if (description.kind() == Kind::real) return predefined(MPI_DOUBLE);
  if (description.kind() == Kind::structure) return structure(description);
  if (description.kind() == Kind::subarray) return subarray(description);
  const MpiType part = of(description.parts().front());
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (description.kind() == Kind::contiguous) {
    require(MPI_Type_contiguous(static_cast<int>(description.count()), part.get(), &type),
            "MPI_Type_contiguous");
  } else if (description.kind() == Kind::resized) {
    require(MPI_Type_create_resized(part.get(), 0, description.count(), &type),
            "MPI_Type_create_resized");
  } else {
    const std::vector<int> lengths(description.lengths().begin(), description.lengths().end());
    const std::vector<MPI_Aint> offsets(description.offsets().begin(), description.offsets().end());
    require(MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(),
                                     offsets.data(), part.get(), &type),
            "MPI_Type_create_hindexed");
  }
  return made(type);
}

MpiType MpiType::structure(const workload::Datatype& description) {
  std::vector<MpiType> parts;
  std::vector<MPI_Datatype> types;
  for (const workload::Datatype& part : description.parts()) {
    parts.push_back(of(part));
    types.push_back(parts.back().get());
  }
  const std::vector<int> lengths(types.size(), 1);
  const std::vector<MPI_Aint> offsets(description.offsets().begin(), description.offsets().end());
  MPI_Datatype type = MPI_DATATYPE_NULL;
  require(MPI_Type_create_struct(static_cast<int>(types.size()), lengths.data(), offsets.data(),
                                 types.data(), &type),
          "MPI_Type_create_struct");
  return made(type);
}

MpiType MpiType::subarray(const workload::Datatype& description) {
  std::vector<int> sizes;
  std::vector<int> extents;
  std::vector<int> starts;
  for (const workload::Datatype::Dimension& one : description.dimensions()) {
    sizes.push_back(static_cast<int>(one.size));
    extents.push_back(static_cast<int>(one.extent));
    starts.push_back(static_cast<int>(one.start));
  }
  const int order = description.is_fortran() ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
  const MpiType element = of(description.parts().front());
  MPI_Datatype type = MPI_DATATYPE_NULL;
  require(MPI_Type_create_subarray(static_cast<int>(sizes.size()), sizes.data(), extents.data(),
                                   starts.data(), order, element.get(), &type),
          "MPI_Type_create_subarray");
  return made(type);
}

MpiScope::MpiScope(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

MpiScope::~MpiScope() { MPI_Finalize(); }

double reduce_max(double value) {
  double result = 0;
  require(MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  return result;
}

double reduce_sum(double value) {
  double result = 0;
  require(MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
  return result;
}

}  // namespace nacre::bench
