#!/bin/sh
# Builds the .deb and the .rpm: `packages.sh VENV MPICH OPENMPI DIRECTORY BUILD`, with the arguments of wheel.sh. The
# objects are those of the wheel, so that the packages install on releases from 2019 on.
set -eu
venv=$1
mpich=$2
openmpi=$3
directory=$4
build=$5
# The same Python as in wheel.sh: with another one, CMake generates sources again.
PATH=$venv/bin:$PATH
export PATH
mkdir -p "$directory" "$build"
# The command's dependencies, in versions that the oldest supported Python has.
rm -rf "$build/python-packages"
"$venv/bin/pip" install --quiet --target "$build/python-packages" --only-binary :all: --platform any \
  --implementation py --abi none --python-version 3.9 'typer>=0.12' 'rich>=13' 'tomli>=2'
rm -rf "$build/python-packages/bin"
find "$build/python-packages" -name __pycache__ -prune -exec rm -rf {} +
CC=$build/compilers/cc CXX=$build/compilers/c++ cmake -S . -B "$build/package" -G Ninja \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/opt/nacre -DCMAKE_INSTALL_LIBDIR=lib -DNACRE_BUILD_TESTS=OFF \
  -DNACRE_INSTALL_COMMAND=ON -DNACRE_PYTHON_PACKAGES="$build/python-packages" \
  -DNACRE_MPICH_INCLUDE="$mpich/include" -DNACRE_MPIABI_INCLUDE="$mpich/include" \
  -DNACRE_OPENMPI_INCLUDE="$openmpi/include" -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON
cmake --build "$build/package" --target installed
for generator in DEB RPM; do
  (cd "$build/package" && cpack -G $generator -B "$directory")
done
rm -rf "$directory/_CPack_Packages"
ls -l "$directory"/nacre*.deb "$directory"/nacre*.rpm
