#!/bin/sh
# Unpacks HDF5's source package of Debian, for its parallel tests, as DIRECTORY/hdf5-source: `hdf5-source.sh DIRECTORY`.
# It comes through apt, checked by its signatures, from the mirrors that this machine already uses. deb-src and the
# lists for it stand under DIRECTORY: nothing of the system is changed, and no root is needed.
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
# apt has compared the package with its signed lists; the maintainer's own key need not be on this machine.
dpkg-source --no-check -x "$scratch"/download/hdf5_*.dsc "$scratch/hdf5-source" > "$scratch/unpack.log"
mv "$scratch/hdf5-source" "$directory/hdf5-source"
rm -rf "$scratch"
