#!/bin/sh
# Creates or completes a virtual environment: `venv.sh DIRECTORY REQUIREMENTS`.
# Prefers Debian's Python, for which Debian builds its parallel h5py and its MPI packages.
set -eu
directory=$1
requirements=$2
python=/usr/bin/python3
[ -x "$python" ] || python=python3
[ -x "$directory/bin/pip" ] || "$python" -m venv "$directory"
"$directory/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
