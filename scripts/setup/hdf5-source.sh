#!/bin/sh
# Downloads Debian's source package of HDF5, for its parallel tests, and unpacks it as DIRECTORY/hdf5-source:
# `hdf5-source.sh DIRECTORY`. apt downloads it from the mirrors of this machine and verifies its signatures. The deb-src
# entries and package lists are under DIRECTORY, so the script does not change the system and does not need root.
set -eu
directory=$(realpath "$1")
[ -e "$directory/hdf5-source/configure" ] && exit 0
scratch=$directory/hdf5-source.tmp
rm -rf "$scratch" "$directory/hdf5-source"
mkdir -p "$scratch/sources" "$scratch/lists/partial" "$scratch/cache/archives/partial" "$scratch/download"

private_apt() {
  apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$scratch/sources" \
    -o Dir::State::Lists="$scratch/lists" -o Dir::Cache="$scratch/cache" -o APT::Sandbox::User="" "$@"
}

number=0
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
  grep -qs debian "$list" || continue
  number=$((number + 1))
  case $list in
    *.sources) sed 's/^Types:.*/Types: deb-src/' "$list" > "$scratch/sources/$number.sources" ;;
    *) sed -n 's/^deb /deb-src /p' "$list" > "$scratch/sources/$number.list" ;;
  esac
done
private_apt update
(cd "$scratch/download" && private_apt source --download-only hdf5)
# --no-check: apt has verified the package with its signed lists. The key of the maintainer may not be on this machine.
dpkg-source --no-check -x "$scratch"/download/hdf5_*.dsc "$scratch/hdf5-source" > "$scratch/unpack.log"
mv "$scratch/hdf5-source" "$directory/hdf5-source"
rm -rf "$scratch"
