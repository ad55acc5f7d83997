#!/bin/sh
# on_clients.sh MOUNT SECOND COMMAND...
# Runs COMMAND as one rank on one of two clients of a Lustre that this machine has mounted twice. An MPI launcher starts
# it. The first half of the ranks see MOUNT. The other half see SECOND in its place, and another host name and node.
set -eu

if [ "$1" = --inside ]; then
  mount --bind "$3" "$2"
  hostname second-client
  shift 3
  NACRE_NODE_ID=second exec "$@"
fi

mount=$1 second=$2
shift 2
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${PMIX_RANK:-${SLURM_PROCID:-0}}}}
size=${OMPI_COMM_WORLD_SIZE:-${PMI_SIZE:-${SLURM_NTASKS:-1}}}
if [ $((rank * 2 / size)) = 0 ]; then
  exec "$@"
fi
user=
if [ "$(id -u)" != 0 ]; then
  user=--map-root-user
fi
exec unshare $user --mount --uts -- "$0" --inside "$mount" "$second" "$@"
