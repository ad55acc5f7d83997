# What Nacre needs besides a compiler, CMake, Python and one mpi.h is left out where it is missing.
#
#   nacre_leave_out(<what> <why> <how>)
#
# prints one line: what is not built or tested, what is missing, and how to get it. With NACRE_REQUIRE_ALL, which
# `make test` and CI set, it ends the configuration instead: a test that quietly did not run would look like one
# that passed.
include_guard(GLOBAL)

option(NACRE_REQUIRE_ALL "Fail where something is missing, instead of leaving out what needs it" OFF)

function(nacre_leave_out what why how)
  if(NACRE_REQUIRE_ALL)
    message(SEND_ERROR "NACRE_REQUIRE_ALL is set, and these cannot be built: ${what} (${why}). ${how}")
  else()
    message(STATUS "Left out: ${what} (${why}). ${how}")
  endif()
endfunction()
