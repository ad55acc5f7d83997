#!/bin/sh
# Installs the Debian packages of a list that are missing: `packages.sh LIST...`.
# As root it calls apt-get; as anyone else it says what to install and fails.
set -eu

wanted=$(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$@")

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "setup: this is not a Debian system; its packages have other names. Wanted are:" >&2
  echo $wanted >&2
  echo "setup: install their like, then run make with SETUP_PACKAGES=no" >&2
  exit 1
fi

missing=
for package in $wanted; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
  echo "setup: these packages are missing, and only root can install them:" >&2
  echo "  sudo apt-get install --no-install-recommends$missing" >&2
  exit 1
fi
echo "setup: installing$missing"
export DEBIAN_FRONTEND=noninteractive
# The step of the setup before this one may have updated the lists just now.
if ! [ -n "$(find "${NACRE_APT_STAMP:-/nowhere}" -mmin -30 2>/dev/null)" ]; then
  apt-get update -q -o Acquire::Languages=none
  [ -z "${NACRE_APT_STAMP:-}" ] || touch "$NACRE_APT_STAMP"
fi
apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 $missing
