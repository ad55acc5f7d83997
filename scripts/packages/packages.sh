#!/bin/sh
# Builds the .deb and the .rpm; the arguments are those of arguments.sh. The objects are those of the wheel, so that the
# packages install on releases from 2019 on.
set -eu
. "$(dirname "$0")/arguments.sh"
mkdir -p "$directory" "$build"
# The command's dependencies, in versions that the oldest supported Python has.
rm -rf "$build/python-packages"
"$venv/bin/pip" install --quiet --target "$build/python-packages" --only-binary :all: --platform any \
  --implementation py --abi none --python-version 3.9 'typer>=0.12' 'rich>=13' 'tomli>=2'
rm -rf "$build/python-packages/bin"
find "$build/python-packages" -name __pycache__ -prune -exec rm -rf {} +
CC=$build/compilers/cc CXX=$build/compilers/c++ cmake -S . -B "$build/package" -G Ninja \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/opt/nacre -DCMAKE_INSTALL_LIBDIR=lib -DNACRE_BUILD_TESTS=OFF \
  -DNACRE_INSTALL_COMMAND=ON -DNACRE_PYTHON_PACKAGES="$build/python-packages" $mpi_options
cmake --build "$build/package" --target installed
rm -f "$directory"/nacre*.deb "$directory"/nacre*.rpm # of other versions, which images would install, too
for generator in DEB RPM; do
  (cd "$build/package" && cpack -G $generator -B "$directory")
done
rm -rf "$directory/_CPack_Packages"
ls -l "$directory"/nacre*.deb "$directory"/nacre*.rpm
