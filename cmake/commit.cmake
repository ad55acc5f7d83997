# Run at each build: writes the commit of the sources into ${output}, and leaves the file alone if it has not changed.
# The commit comes from git, or, in sources that `git archive` packed (`make sdist`), from commit.txt.
file(READ ${CMAKE_CURRENT_LIST_DIR}/commit.txt commit)
string(STRIP "${commit}" commit)
if(commit MATCHES "Format")
  execute_process(COMMAND git -C ${source} describe --always --abbrev=12 --dirty --exclude=*
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  # A copy of the sources without .git, inside another project's repository, would have that project's commit.
  if(failed OR NOT EXISTS ${source}/.git)
    set(commit unknown)
  endif()
endif()
file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [[
#include "nacre/nacre.h"

extern "C" const char* nacre_commit(void) { return "@commit@"; }
]])
