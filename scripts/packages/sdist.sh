#!/bin/sh
# Packs the commit that is checked out as a source package: `sdist.sh VENV DIRECTORY` writes
# DIRECTORY/nacre-VERSION.tar.gz. Changes that are not committed are not packed: `git archive` writes the commit into the
# sources, and `nacre --version` prints it.
set -eu
venv=$1
directory=$2
[ -z "$(git status --porcelain --untracked-files=no)" ] ||
  echo "sdist.sh: packing commit $(git rev-parse --short HEAD); the uncommitted changes are left out" >&2
mkdir -p "$directory"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
git archive HEAD | tar -x -C "$scratch"
"$venv/bin/python" -m build --sdist --no-isolation --outdir "$directory" "$scratch"
