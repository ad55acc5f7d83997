#!/bin/sh
# Runs the tests on files of a Ceph cluster, which it starts in FOLDER and stops: `test-ceph.sh BUILD FOLDER ARGUMENT...`.
# tests/lustre/run.py gets the arguments. Exit status 77: no cluster can run here; the last line is "skipped: REASON".
set -eu
build=$1
folder=$2
shift 2
exec "$(dirname "$0")/ceph_cluster.py" with "$folder" python3 "$(dirname "$0")/../tests/lustre/run.py" \
  --build "$build" --mount "$folder/0" --second "$folder/1" "$@"
