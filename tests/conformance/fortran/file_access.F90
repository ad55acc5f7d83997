! The same checks through mpif.h, `use mpi` and `use mpi_f08`: open, views, every data access family, and error
! handlers made in Fortran. -DBINDING=1 mpif.h, 2 use mpi, 3 use mpi_f08.
#if BINDING == 3
#define FILE_T type(MPI_File)
#define DATATYPE_T type(MPI_Datatype)
#define REQUEST_T type(MPI_Request)
#define ERRHANDLER_T type(MPI_Errhandler)
#define STATUS_T type(MPI_Status)
#else
#define FILE_T integer
#define DATATYPE_T integer
#define REQUEST_T integer
#define ERRHANDLER_T integer
#define STATUS_T integer, dimension(MPI_STATUS_SIZE)
#endif
module checks
#if BINDING == 2
  use mpi
#elif BINDING == 3
  use mpi_f08
#endif
  implicit none
#if BINDING == 1
  include 'mpif.h'
#endif
  integer :: failures = 0, handler_calls = 0, handler_code = 0
contains
  subroutine check(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    failures = failures + 1
    print '(2a)', 'FAILED: ', what
  end subroutine check

  subroutine check_ok(code, what)
    integer, intent(in) :: code
    character(*), intent(in) :: what
    call check(code == MPI_SUCCESS, what)
  end subroutine check_ok

  subroutine on_error(file, code)
    FILE_T :: file
    integer :: code
    if (storage_size(file) > 0) handler_calls = handler_calls + 1
    handler_code = code
  end subroutine on_error
end module checks

program file_fortran
  use checks ! and with it the binding
  implicit none
  integer, parameter :: n = 24
  FILE_T :: file
  DATATYPE_T :: slice, strided
  REQUEST_T :: request
  STATUS_T :: status
  integer :: rank, ranks, code, i, all_failures
  integer :: out(n), in(n)
  character(1024) :: scratch, path
  integer(MPI_OFFSET_KIND) :: at, position
  integer(MPI_ADDRESS_KIND) :: lower, extent

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call get_environment_variable('NACRE_TEST_SCRATCH', scratch)
  if (len_trim(scratch) == 0) scratch = '.'
  path = trim(scratch) // '/fortran'
  out = [(1000 * rank + i, i = 1, n)]

  call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR + MPI_MODE_CREATE, MPI_INFO_NULL, file, code)
  call check_ok(code, 'open')
  call MPI_Type_vector(n / 4, 4, 4 * ranks, MPI_INTEGER, strided, code)
  lower = 0
  extent = 4 * n * ranks
  call MPI_Type_create_resized(strided, lower, extent, slice, code)
  call MPI_Type_free(strided, code)
  call MPI_Type_commit(slice, code)
  position = 16 * rank
  call MPI_File_set_view(file, position, MPI_INTEGER, slice, 'native', MPI_INFO_NULL, code)
  call check_ok(code, 'set_view')
  call explicit_offsets()
  call individual_pointers()
  call split_collectives()
  position = 0
  call MPI_File_set_view(file, position, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, code)
  call check_ok(code, 'set_view for all alike')
  call shared_pointers()
  call error_handlers()
  call MPI_Type_free(slice, code)
  call MPI_File_close(file, code)
  call check_ok(code, 'close')
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  call MPI_Finalize(code)
  if (all_failures /= 0) error stop 1
contains
  subroutine same(what)
    character(*), intent(in) :: what
    integer :: count
    call check(all(in == out), what // ': other data came back')
    call MPI_Get_count(status, MPI_INTEGER, count, code)
    call check(count == n, what // ': the status tells another count')
    in = -1
  end subroutine same

  subroutine visible()
    call MPI_File_sync(file, code)
    call MPI_Barrier(MPI_COMM_WORLD, code)
    call MPI_File_sync(file, code)
  end subroutine visible

  subroutine explicit_offsets()
    at = 0
    call MPI_File_write_at(file, at, out, n, MPI_INTEGER, status, code)
    call check_ok(code, 'write_at')
    call MPI_File_read_at(file, at, in, n, MPI_INTEGER, status, code)
    call same('read_at')
    at = n
    call MPI_File_write_at_all(file, at, out, n, MPI_INTEGER, status, code)
    call check_ok(code, 'write_at_all')
    call MPI_File_read_at_all(file, at, in, n, MPI_INTEGER, status, code)
    call same('read_at_all')
    call MPI_File_iwrite_at(file, at, out, n, MPI_INTEGER, request, code)
    call MPI_Wait(request, status, code)
    call MPI_File_iread_at(file, at, in, n, MPI_INTEGER, request, code)
    call MPI_Wait(request, status, code)
    call same('iread_at')
    call MPI_File_iwrite_at_all(file, at, out, n, MPI_INTEGER, request, code)
    call MPI_Wait(request, status, code)
    call MPI_File_iread_at_all(file, at, in, n, MPI_INTEGER, request, code)
    call MPI_Wait(request, status, code)
    call same('iread_at_all')
    call visible()
  end subroutine explicit_offsets

  subroutine individual_pointers()
    at = 2 * n
    call MPI_File_seek(file, at, MPI_SEEK_SET, code)
    call MPI_File_write(file, out, n, MPI_INTEGER, status, code)
    call MPI_File_write_all(file, out, n, MPI_INTEGER, status, code)
    call MPI_File_iwrite(file, out, n, MPI_INTEGER, request, code)
    call MPI_Wait(request, status, code)
    call MPI_File_iwrite_all(file, out, n, MPI_INTEGER, request, code)
    call MPI_Wait(request, status, code)
    call MPI_File_seek(file, at, MPI_SEEK_SET, code)
    call MPI_File_read(file, in, n, MPI_INTEGER, status, code)
    call same('read')
    call MPI_File_read_all(file, in, n, MPI_INTEGER, status, code)
    call same('read_all')
    call MPI_File_iread(file, in, n, MPI_INTEGER, request, code)
    call MPI_Wait(request, status, code)
    call same('iread')
    call MPI_File_get_position(file, position, code)
    call check(position == 5 * n, 'get_position')
    call MPI_File_iread_all(file, in, n, MPI_INTEGER, request, code)
    call MPI_Wait(request, status, code)
    call same('iread_all')
    call visible()
  end subroutine individual_pointers

  subroutine split_collectives()
    at = 6 * n
    call MPI_File_write_at_all_begin(file, at, out, n, MPI_INTEGER, code)
    call MPI_File_write_at_all_end(file, out, status, code)
    call MPI_File_read_at_all_begin(file, at, in, n, MPI_INTEGER, code)
    call MPI_File_read_at_all_end(file, in, status, code)
    call same('read_at_all_begin')
    call MPI_File_seek(file, at, MPI_SEEK_SET, code)
    call MPI_File_write_all_begin(file, out, n, MPI_INTEGER, code)
    call MPI_File_write_all_end(file, out, status, code)
    call MPI_File_seek(file, at, MPI_SEEK_SET, code)
    call MPI_File_read_all_begin(file, in, n, MPI_INTEGER, code)
    call MPI_File_read_all_end(file, in, status, code)
    call same('read_all_begin')
    call visible()
  end subroutine split_collectives

  subroutine shared_pointers()
    at = 0
    call MPI_File_write_ordered(file, out, n, MPI_INTEGER, status, code)
    call visible()
    call MPI_File_seek_shared(file, at, MPI_SEEK_SET, code)
    call MPI_File_read_ordered(file, in, n, MPI_INTEGER, status, code)
    call same('read_ordered')
    call MPI_File_get_position_shared(file, position, code)
    call check(position == n * ranks, 'get_position_shared')
    call MPI_Barrier(MPI_COMM_WORLD, code)
    call MPI_File_write_ordered_begin(file, out, n, MPI_INTEGER, code)
    call MPI_File_write_ordered_end(file, out, status, code)
    call visible()
    at = n * ranks
    call MPI_File_seek_shared(file, at, MPI_SEEK_SET, code)
    call MPI_File_read_ordered_begin(file, in, n, MPI_INTEGER, code)
    call MPI_File_read_ordered_end(file, in, status, code)
    call same('read_ordered_begin')
    call MPI_File_write_shared(file, out, n, MPI_INTEGER, status, code)
    call check_ok(code, 'write_shared')
    call MPI_File_iwrite_shared(file, out, n, MPI_INTEGER, request, code)
    call MPI_Wait(request, status, code)
    call visible()
    at = 0
    call MPI_File_seek_shared(file, at, MPI_SEEK_SET, code)
    call MPI_File_read_shared(file, in, n, MPI_INTEGER, status, code)
    call check(mod(in(1), 1000) == 1, 'read_shared')
    call MPI_File_iread_shared(file, in, n, MPI_INTEGER, request, code)
    call MPI_Wait(request, status, code)
    call check(mod(in(1), 1000) == 1, 'iread_shared')
  end subroutine shared_pointers

  subroutine error_handlers()
    ERRHANDLER_T :: handler
    FILE_T :: none
    integer :: error_class
    call MPI_File_create_errhandler(on_error, handler, code)
    call MPI_File_set_errhandler(file, handler, code)
    at = -1
    call MPI_File_seek(file, at, MPI_SEEK_SET, code)
    call check(handler_calls == 1, 'the handler made in Fortran was not called once')
    call check(code /= MPI_SUCCESS .and. handler_code /= MPI_SUCCESS, 'seek to -1 gave no error')
    call MPI_File_set_errhandler(file, MPI_ERRORS_RETURN, code)
    call MPI_File_open(MPI_COMM_WORLD, trim(path) // '-missing', MPI_MODE_RDONLY, MPI_INFO_NULL, none, code)
    call MPI_Error_class(code, error_class, i)
    call check(error_class == MPI_ERR_NO_SUCH_FILE, 'open of nothing: class')
    call MPI_Errhandler_free(handler, code)
  end subroutine error_handlers
end program file_fortran
