#!/bin/sh
# Makes (or completes) a virtual environment: `venv.sh DIRECTORY REQUIREMENTS`.
# Debian's own Python is used, for its parallel h5py and MPI packages belong to that one.
set -eu
directory=$1
requirements=$2
python=/usr/bin/python3
[ -x "$python" ] || python=python3
[ -x "$directory/bin/pip" ] || "$python" -m venv "$directory"
"$directory/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
