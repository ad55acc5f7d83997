#!/bin/sh
# Builds the wheel: `wheel.sh VENV MPICH OPENMPI DIRECTORY BUILD`.
# VENV has the tools (requirements-package.txt), MPICH and OPENMPI are environments with the mpi.h of MPICH and of the
# standard ABI, and of Open MPI. DIRECTORY gets the wheel. BUILD has the compilers of portable.sh in BUILD/compilers, and
# gets the objects in BUILD/package, which packages.sh uses too.
set -eu
venv=$1
mpich=$2
openmpi=$3
directory=$4
build=$5
PATH=$venv/bin:$PATH
export PATH
raw=$build/raw
# Without pkg-config, CMake leaves the testbed out: libfuse3 of this machine needs a newer glibc, and its name differs
# between releases.
rm -rf "$raw" "$directory"/nacre-*.whl
CC=$build/compilers/cc CXX=$build/compilers/c++ \
CMAKE_ARGS="-DNACRE_MPICH_INCLUDE=$mpich/include -DNACRE_MPIABI_INCLUDE=$mpich/include \
  -DNACRE_OPENMPI_INCLUDE=$openmpi/include -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON" \
  "$venv/bin/pip" wheel --no-deps --no-build-isolation --config-settings build-dir="$build/package" \
  --wheel-dir "$raw" .
# Fails if a library needs more than the policy allows.
auditwheel repair --plat "manylinux_2_28_$(uname -m)" --wheel-dir "$directory" "$raw"/nacre-*.whl
auditwheel show "$directory"/nacre-*.whl
