# nacre_precompile(<target>): the target's sources are compiled with the standard library's headers precompiled, once
# for all targets, if NACRE_PRECOMPILE_HEADERS is set, as `make` does. All that is compiled takes a quarter to a third
# less time. It is off elsewhere, since a source that lacks an include is found only without it (.ci/run compiles all
# sources so), and with a compiler cache: by default these do not know precompiled headers.
include_guard(GLOBAL)
option(NACRE_PRECOMPILE_HEADERS "Precompile the standard library's headers" OFF)

set(NACRE_PRECOMPILED_HEADERS <algorithm> <array> <atomic> <chrono> <coroutine> <cstdint> <cstring> <deque> <functional>
    <limits> <map> <memory> <mutex> <numeric> <optional> <span> <string> <string_view> <utility> <vector>)

function(nacre_precompile target)
  if(NOT NACRE_PRECOMPILE_HEADERS OR CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  if(target STREQUAL "nacre_base")
    target_precompile_headers(nacre_base PRIVATE ${NACRE_PRECOMPILED_HEADERS})
  else()
    target_precompile_headers(${target} REUSE_FROM nacre_base)
  endif()
endfunction()
