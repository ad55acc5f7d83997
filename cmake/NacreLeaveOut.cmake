# Nacre needs a compiler, CMake, Python and one mpi.h. If another dependency is missing, the parts that need it are left
# out.
#
#   nacre_leave_out(<what> <why> <how>)
#
# prints one line: what is left out, what is missing, and how to install it. With NACRE_REQUIRE_ALL, which `make test`
# and CI set, the configuration fails instead, because a test that is left out looks like a test that passed.
include_guard(GLOBAL)

option(NACRE_REQUIRE_ALL "Fail if a dependency is missing, instead of leaving out the parts that need it" OFF)

function(nacre_leave_out what why how)
  if(NACRE_REQUIRE_ALL)
    message(SEND_ERROR "NACRE_REQUIRE_ALL is set, but this cannot be built: ${what} (${why}). ${how}")
  else()
    message(STATUS "Left out: ${what} (${why}). ${how}")
  endif()
endfunction()
