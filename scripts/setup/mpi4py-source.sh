#!/bin/sh
# Downloads the source package of mpi4py, for its test suite, and unpacks it as DIRECTORY/mpi4py-VERSION:
# `mpi4py-source.sh PIP DIRECTORY`.
set -eu
pip=$1
directory=$2
here=$(dirname "$0")
downloads=$directory/downloads
rm -rf "$downloads" "$directory"/mpi4py-*
mkdir -p "$downloads"
"$pip" download --quiet --disable-pip-version-check --no-deps --no-binary mpi4py \
  --require-hashes --requirement "$here/requirements-mpi4py-source.txt" --dest "$downloads"
tar -xf "$downloads"/mpi4py-*.tar.gz -C "$directory"
