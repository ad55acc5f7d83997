#!/bin/sh
# Installs the missing Debian packages of the lists: `packages.sh LIST...`.
# If the user is not root, prints the apt-get command and fails.
set -eu

wanted=$(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$@")

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "setup: this is not a Debian system. Nacre needs these packages of Debian:" >&2
  echo $wanted >&2
  echo "setup: install the equivalent packages, then run \`make SETUP_PACKAGES=no\`" >&2
  exit 1
fi

missing=
for package in $wanted; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
  echo "setup: packages are missing, and only root can install them. Run:" >&2
  echo "  sudo apt-get install --no-install-recommends$missing" >&2
  exit 1
fi
echo "setup: installing$missing"
export DEBIAN_FRONTEND=noninteractive
# Skips the update if an earlier step of the setup updated the lists in the last 30 minutes.
if ! [ -n "$(find "${NACRE_APT_STAMP:-/nowhere}" -mmin -30 2>/dev/null)" ]; then
  apt-get update -q -o Acquire::Languages=none
  [ -z "${NACRE_APT_STAMP:-}" ] || touch "$NACRE_APT_STAMP"
fi
apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 $missing
