#!/bin/sh
# Builds the wheel; the arguments are those of arguments.sh.
set -eu
. "$(dirname "$0")/arguments.sh"
raw=$build/raw
rm -rf "$raw" "$directory"/nacre-*.whl
CC=$build/compilers/cc CXX=$build/compilers/c++ CMAKE_ARGS=$mpi_options \
  "$venv/bin/pip" wheel --no-deps --no-build-isolation --config-settings build-dir="$build/package" \
  --wheel-dir "$raw" .
# Fails if a library needs more than the policy allows.
auditwheel repair --plat "manylinux_2_28_$(uname -m)" --wheel-dir "$directory" "$raw"/nacre-*.whl
auditwheel show "$directory"/nacre-*.whl
