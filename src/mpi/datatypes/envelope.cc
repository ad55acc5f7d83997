#include "mpi/datatypes/envelope.h"

namespace nacre::mpi {

Result<Envelope> envelope_of(MPI_Datatype datatype) {
  Envelope envelope;
  int status = MPI_SUCCESS;
  if (native().Type_get_envelope_c != nullptr) {
    status = native().Type_get_envelope_c(datatype, &envelope.integer_count,
                                          &envelope.address_count, &envelope.large_count,
                                          &envelope.type_count, &envelope.combiner);
  } else {
    int integers = 0;
    int addresses = 0;
    int types = 0;
    status =
        native().Type_get_envelope(datatype, &integers, &addresses, &types, &envelope.combiner);
    envelope.integer_count = integers;
    envelope.address_count = addresses;
    envelope.type_count = types;
  }
  if (status != MPI_SUCCESS)
    return Error{ErrorClass::type, 0, "the datatype is not valid: MPI_Type_get_envelope failed"};
  return envelope;
}

}  // namespace nacre::mpi
