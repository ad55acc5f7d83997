#!/bin/sh
# What MPI's launchers start in the place of ssh: `agent.sh [OPTION...] HOST COMMAND...` runs the command, which a
# shell on that host reads, in the host's namespaces.
set -eu
while [ "${1#-}" != "$1" ]; do shift; done
read -r number < "$NACRE_HOSTS_STATE/$1"
shift
exec nsenter --target "$number" --mount --uts --ipc --net --pid sh -c "$*"
