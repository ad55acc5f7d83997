#!/bin/sh
# Parallel HDF5's own tests (testpar) from Debian's source package, through Nacre and on the MPI alone.
#
#   hdf5_testpar.sh build/mpi_test_config.json mpich4 WORK_DIRECTORY
#
# In the environment: NACRE_TEST_RANKS (default 4), NACRE_TEST_NATIVE=1 (only the MPI alone),
# NACRE_TEST_PROGRAMS (default: all that testpar builds).
# The source comes through apt, from the mirrors that this machine already uses, with deb-src added in lists of our
# own under WORK_DIRECTORY: nothing of the system is changed and no root is needed.
set -eu

config=$(realpath "$1")
mpi=$2
mkdir -p "$3"
work=$(realpath "$3")
here=$(dirname "$(realpath "$0")")
ranks=${NACRE_TEST_RANKS:-4}

case $mpi in
  mpich4) compiler=mpicc.mpich ;;
  openmpi4) compiler=mpicc.openmpi ;;
  *) echo "$mpi: Debian builds HDF5 for mpich4 and openmpi4" >&2; exit 2 ;;
esac

# apt with lists, caches and state under $work.
private_apt() {
  apt-get -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/apt/sources" \
    -o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" -o APT::Sandbox::User="" "$@"
}

fetch() {
  [ -e "$work/source/configure" ] && return
  rm -rf "$work/apt" "$work/source"
  mkdir -p "$work/apt/sources" "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/download"
  number=0
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    [ -e "$list" ] || continue
    grep -q debian "$list" || continue
    number=$((number + 1))
    case $list in
      *.sources) sed 's/^Types:.*/Types: deb-src/' "$list" > "$work/apt/sources/$number.sources" ;;
      *) sed -n 's/^deb /deb-src /p' "$list" > "$work/apt/sources/$number.list" ;;
    esac
  done
  private_apt -qq update
  (cd "$work/download" && private_apt -qq source --download-only hdf5)
  dpkg-source -x "$work"/download/hdf5_*.dsc "$work/source" > "$work/unpack.log" 2>&1
}

# A chain, as set -e does not hold inside a condition.
build_in() {
  cd "$1" &&
    CC=$compiler CFLAGS=-O1 "$work/source/configure" --enable-parallel --enable-static --disable-shared \
      --disable-hl --disable-fortran --disable-cxx --enable-build-mode=production --with-zlib > configure.log 2>&1 &&
    make -j"$(nproc)" -C src > build.log 2>&1 &&
    make -j"$(nproc)" -C test libh5test.la >> build.log 2>&1 &&
    programs | xargs make -j"$(nproc)" -C testpar >> build.log 2>&1
}

build() {
  [ -e "$work/$mpi/built" ] && return
  mkdir -p "$work/$mpi"
  if ! (build_in "$work/$mpi"); then
    tail -n 30 "$work/$mpi/build.log"
    exit 1
  fi
  touch "$work/$mpi/built"
}

# What testpar's makefile lists as its parallel tests.
programs() {
  sed -n 's/^TEST_PROG_PARA *= *//p' "$work/$mpi/testpar/Makefile"
}

failed=0
# run_all NAME [--native]: every program, with a line for each.
run_all() {
  name=$1
  shift
  for program in ${NACRE_TEST_PROGRAMS:-$(programs)}; do
    log="$work/$mpi/$program.$name.log"
    begin=$(date +%s)
    status=0
    (cd "$work/$mpi/testpar" && python3 "$here/../cmake/mpi_run.py" --config "$config" --mpi "$mpi" -n "$ranks" \
      --timeout 3600 --env HDF5_ALARM_SECONDS=3500 "$@" -- "./$program") > "$log" 2>&1 || status=$?
    # The first half of the flush test ends by abort on purpose; the second half says whether it was right.
    [ "$program" = t_pflush1 ] && status=0
    echo "testpar $mpi $name: $program $([ $status = 0 ] && echo passed || echo "FAILED ($status)"), $(($(date +%s) - begin)) s"
    if [ $status != 0 ] && [ "$name" = nacre ]; then
      failed=1
      tail -20 "$log"
    fi
  done
}

fetch
build
run_all native --native
[ "${NACRE_TEST_NATIVE:-0}" = 0 ] && run_all nacre
exit $failed
