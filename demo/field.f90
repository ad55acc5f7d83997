! field: writes a distributed array to a plain MPI-IO file, in modern Fortran.
!
! Usage: field FILE [EDGE]. Every rank has a block of a cube. The ranks write the steps through subarray views with
! blocking, split and nonblocking collective calls, read them back as slabs, and compare. Fails on any difference.
program field
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use mpi_f08
  implicit none

  integer, parameter :: steps = 6
  integer(MPI_OFFSET_KIND), parameter :: header_bytes = 512

  character(len=4096) :: name, argument
  integer :: edge, rank, ranks
  integer :: dims(3)
  type(MPI_Comm) :: cube
  double precision :: begin

  call MPI_Init()
  call get_command_argument(1, name)
  edge = 64
  if (command_argument_count() > 1) then
    call get_command_argument(2, argument)
    read (argument, *) edge
  end if

  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  dims = 0
  call MPI_Dims_create(ranks, 3, dims)
  call MPI_Cart_create(MPI_COMM_WORLD, 3, dims, [.false., .false., .false.], .true., cube)
  call MPI_Comm_rank(cube, rank)

  call MPI_Barrier(cube)
  begin = MPI_Wtime()
  call write_steps()
  call read_steps()
  call MPI_Barrier(cube)
  if (rank == 0) print '(a, f0.6)', 'io_seconds ', MPI_Wtime() - begin
  call MPI_Comm_free(cube)
  call MPI_Finalize()

contains

  subroutine check(code, what)
    integer, intent(in) :: code
    character(len=*), intent(in) :: what
    if (code == MPI_SUCCESS) return
    write (error_unit, '(a, i0, 2a)') 'rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine check

  ! The cells of a block that begins at `first` (counted from 0). All cells of a step differ.
  function cells(first, extent, step) result(block)
    integer, intent(in) :: first(3), extent(3), step
    real(real64) :: block(extent(1), extent(2), extent(3))
    integer :: i, j, k
    do k = 1, extent(3)
      do j = 1, extent(2)
        do i = 1, extent(1)
          block(i, j, k) = real(first(1) + i - 1, real64) + edge * (real(first(2) + j - 1, real64) &
            + edge * real(first(3) + k - 1, real64)) + 0.25_real64 * step
        end do
      end do
    end do
  end function cells

  subroutine part_of(process_dims, coordinates, first, extent)
    integer, intent(in) :: process_dims(3), coordinates(3)
    integer, intent(out) :: first(3), extent(3)
    first = edge * coordinates / process_dims
    extent = edge * (coordinates + 1) / process_dims - first
  end subroutine part_of

  function step_offset(step) result(offset)
    integer, intent(in) :: step
    integer(MPI_OFFSET_KIND) :: offset
    offset = header_bytes + int(step - 1, MPI_OFFSET_KIND) * int(edge, MPI_OFFSET_KIND)**3 * 8
  end function step_offset

  subroutine write_steps()
    type(MPI_File) :: file
    type(MPI_Datatype) :: block_type
    type(MPI_Request) :: request
    integer :: first(3), extent(3), coordinates(3), step, code
    integer :: header(4)
    real(real64), allocatable, asynchronous :: block(:, :, :)

    call MPI_Cart_coords(cube, rank, 3, coordinates)
    call part_of(dims, coordinates, first, extent)
    call MPI_Type_create_subarray(3, [edge, edge, edge], extent, first, MPI_ORDER_FORTRAN, MPI_REAL8, block_type)
    call MPI_Type_commit(block_type)
    call MPI_File_open(cube, trim(name), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, code)
    call check(code, 'cannot create the file')
    call MPI_File_set_size(file, 0_MPI_OFFSET_KIND, code)
    call check(code, 'cannot set the size')

    if (rank == 0) then
      header = [edge, steps, 8, 3]
      call MPI_File_write_at(file, 0_MPI_OFFSET_KIND, header, 4, MPI_INTEGER, MPI_STATUS_IGNORE, code)
      call check(code, 'cannot write the header')
    end if
    do step = 1, steps
      block = cells(first, extent, step)
      call MPI_File_set_view(file, step_offset(step), MPI_REAL8, block_type, 'native', MPI_INFO_NULL, code)
      call check(code, 'cannot set the view')
      select case (mod(step, 3))
      case (0)
        call MPI_File_write_all(file, block, size(block), MPI_REAL8, MPI_STATUS_IGNORE, code)
      case (1)
        call MPI_File_write_all_begin(file, block, size(block), MPI_REAL8, code)
        call check(code, 'cannot begin the split write')
        call MPI_File_write_all_end(file, block, MPI_STATUS_IGNORE, code)
      case (2)
        call MPI_File_iwrite_all(file, block, size(block), MPI_REAL8, request, code)
        call check(code, 'cannot start the nonblocking write')
        call MPI_Wait(request, MPI_STATUS_IGNORE, code)
      end select
      call check(code, 'cannot write a step')
    end do
    call MPI_File_close(file, code)
    call check(code, 'cannot close the file')
    call MPI_Type_free(block_type)
  end subroutine write_steps

  subroutine read_steps()
    type(MPI_File) :: file
    type(MPI_Datatype) :: slab_type
    type(MPI_Status) :: status
    integer :: first(3), extent(3), step, code, got
    real(real64), allocatable :: block(:, :, :)

    call part_of([1, 1, ranks], [0, 0, rank], first, extent)
    call MPI_Type_create_subarray(3, [edge, edge, edge], extent, first, MPI_ORDER_FORTRAN, MPI_REAL8, slab_type)
    call MPI_Type_commit(slab_type)
    call MPI_File_open(cube, trim(name), MPI_MODE_RDONLY, MPI_INFO_NULL, file, code)
    call check(code, 'cannot open the file')
    allocate (block(extent(1), extent(2), extent(3)))
    do step = 1, steps
      block = -1
      call MPI_File_set_view(file, step_offset(step), MPI_REAL8, slab_type, 'native', MPI_INFO_NULL, code)
      call check(code, 'cannot set the view')
      call MPI_File_read_all(file, block, size(block), MPI_REAL8, status, code)
      call check(code, 'cannot read a step')
      call MPI_Get_count(status, MPI_REAL8, got)
      if (got /= size(block)) call check(MPI_ERR_OTHER, 'MPI_Get_count returns too few elements for a read')
      if (any(block /= cells(first, extent, step))) call check(MPI_ERR_OTHER, 'the data read differ from the data written')
    end do
    call MPI_File_close(file, code)
    call check(code, 'cannot close the file')
    call MPI_Type_free(slab_type)
  end subroutine read_steps

end program field
