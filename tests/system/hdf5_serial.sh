#!/bin/sh
# Runs the serial tests of HDF5 from Debian's source package with the buffers of libnacre_posix.so in front of all
# their files. The tests check what they read back. HDF5 does not lock files here, because files with locks are not
# buffered. Left out is swmr: its reader expects bytes that the writer has neither synced nor closed (docs/posix.md).
#
#   hdf5_serial.sh BUILD HDF5_SOURCE WORK_DIRECTORY
#
# A failed program also runs without the library, and counts unless it fails then, too. In the environment:
# NACRE_TEST_PROGRAMS (default: all programs of `make check` in HDF5's folder `test`). HDF5 is built once, in
# WORK_DIRECTORY.
set -eu

library=$(realpath "$1")/lib/libnacre_posix.so
mkdir -p "$3"
work=$(realpath "$3")
here=$(dirname "$(realpath "$0")")
[ -e "$2/configure" ] || "$here/../../scripts/setup/hdf5-source.sh" "$(dirname "$2")"
source=$(realpath "$2")

programs_of_hdf5() {
  printf 'include Makefile\nprint:\n\t@echo $(filter-out swmr,$(TEST_PROG))\n' | make -s -C "$work/test" -f - print
}

# Chained with &&, because set -e has no effect in a condition.
build_in() {
  cd "$1" &&
    CC=gcc CFLAGS=-O1 "$source/configure" --enable-static --disable-shared --disable-hl --disable-fortran --disable-cxx \
      --enable-build-mode=production --with-zlib &&
    make -j"$(nproc)" -C src &&
    make -j"$(nproc)" -C test $(programs_of_hdf5)
}

if [ ! -e "$work/built" ]; then
  if ! (build_in "$work") > "$work/build.log" 2>&1; then
    tail -n 30 "$work/build.log"
    exit 1
  fi
  touch "$work/built"
fi

# run_one PROGRAM LIBRARY: a line on it; the status is the program's. An empty LIBRARY: without Nacre.
run_one() {
  word=${2:+buffered}
  log="$work/$1.${word:-alone}.log"
  begin=$(date +%s)
  status=0
  (cd "$work/test" && srcdir="$source/test" HDF5TestExpress=3 HDF5_ALARM_SECONDS=3500 HDF5_USE_FILE_LOCKING=FALSE \
    LD_PRELOAD="$2" NACRE_IOBUF='*:size=64k:count=4:prefetch=1' timeout 3600 "./$1") > "$log" 2>&1 || status=$?
  result=passed
  [ $status = 0 ] || result="FAILED ($status)"
  echo "hdf5 serial, ${word:-alone}: $1 $result, $(($(date +%s) - begin)) s"
  return $status
}

failed=0
for program in ${NACRE_TEST_PROGRAMS:-$(programs_of_hdf5)}; do
  if ! run_one "$program" "$library"; then
    tail -n 20 "$work/$program.buffered.log"
    ! run_one "$program" "" || failed=1
  fi
done
exit $failed
