#!/bin/sh
# Replaces ssh for the launchers of the MPIs: `agent.sh [OPTION...] HOST COMMAND...` runs the command with a shell in
# the namespaces of the host.
set -eu
while [ "${1#-}" != "$1" ]; do shift; done
read -r number < "$NACRE_HOSTS_STATE/$1"
shift
exec nsenter --target "$number" --mount --uts --ipc --net --pid sh -c "$*"
