#!/bin/sh
# Runs the parallel tests of HDF5 (testpar) from Debian's source package with Nacre.
#
#   hdf5_testpar.sh build/mpi_test_config.json mpich4 build/hdf5-source WORK_DIRECTORY
#
# A failed program also runs with the MPI alone. The failure counts unless the MPI alone fails too.
# In the environment: NACRE_TEST_RANKS (default 4), NACRE_TEST_NATIVE=1 (only the MPI alone), NACRE_TEST_PROGRAMS
# (default: all of testpar). HDF5 is built once, in WORK_DIRECTORY/mpich4.
set -eu

config=$(realpath "$1")
mpi=$2
source=$3
mkdir -p "$4/$mpi"
work=$(realpath "$4/$mpi")
here=$(dirname "$(realpath "$0")")
ranks=${NACRE_TEST_RANKS:-4}
# testpar's TEST_PROG_PARA and, for its testpflush.sh, the two halves of the flush test.
programs="t_mpi t_bigio testphdf5 t_cache t_cache_image t_pread t_pshutdown t_prestart t_init_term t_shapesame
  t_filters_parallel t_pflush1 t_pflush2"

case $mpi in
  mpich4) compiler=mpicc.mpich ;;
  openmpi4) compiler=mpicc.openmpi ;;
  *) echo "$mpi: Debian builds HDF5 for mpich4 and openmpi4" >&2; exit 2 ;;
esac

# Builds the library and testpar only. Commands are chained with &&, because set -e has no effect in a condition.
build_in() {
  cd "$1" &&
    CC=$compiler CFLAGS=-O1 "$source/configure" --enable-parallel --enable-static --disable-shared \
      --disable-hl --disable-fortran --disable-cxx --enable-build-mode=production --with-zlib &&
    make -j"$(nproc)" -C src &&
    make -j"$(nproc)" -C test libh5test.la &&
    make -j"$(nproc)" -C testpar $programs
}

build() {
  [ -e "$work/built" ] && return
  [ -e "$source/configure" ] || "$here/../../scripts/setup/hdf5-source.sh" "$(dirname "$source")"
  source=$(realpath "$source")
  if ! (build_in "$work") > "$work/build.log" 2>&1; then
    tail -n 30 "$work/build.log"
    exit 1
  fi
  touch "$work/built"
}

# These send more small messages than all others together, and MPICH 4.0 spins: as few ranks as they take.
ranks_of() {
  case $1 in
    t_cache) echo 3 ;;
    t_cache_image) echo 2 ;;
    *) echo "$ranks" ;;
  esac
}

# run_one PROGRAM KIND: a line on it; the status is the program's. KIND is "nacre" or "native".
run_one() {
  log="$work/$1.$2.log"
  native=
  [ "$2" = native ] && native=--native
  files=
  [ -z "${NACRE_TEST_DIR:-}" ] || files="--env HDF5_PARAPREFIX=$NACRE_TEST_DIR"
  begin=$(date +%s)
  status=0
  (cd "$work/testpar" && python3 "$here/../cmake/mpi_run.py" --config "$config" --mpi "$mpi" -n "$(ranks_of "$1")" \
    --timeout 3600 --env HDF5_ALARM_SECONDS=3500 $files $native -- "./$1") > "$log" 2>&1 || status=$?
  # The first half of the flush test ends its ranks on purpose; the second half says whether it was right.
  [ "$1" = t_pflush1 ] && status=0
  word=passed
  [ $status = 0 ] || word="FAILED ($status)"
  echo "testpar $mpi $2: $1 $word, $(ranks_of "$1") ranks, $(($(date +%s) - begin)) s"
  return $status
}

build
failed=0
for program in ${NACRE_TEST_PROGRAMS:-$programs}; do
  if [ "${NACRE_TEST_NATIVE:-0}" != 0 ]; then
    run_one "$program" native || failed=1
  elif ! run_one "$program" nacre; then
    tail -n 20 "$work/$program.nacre.log"
    ! run_one "$program" native || failed=1
  fi
done
exit $failed
