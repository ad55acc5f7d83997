#!/bin/sh
# nacre-testbed-rank DIRECTORY NODES COMMAND...
# Runs COMMAND as one rank on its emulated node. An MPI launcher starts it. Ranks are assigned to NODES nodes in blocks.
# Each rank gets its own mount and UTS namespaces, in which DIRECTORY/node is its node's mount and the host name is that of
# its node.
set -eu

if [ "$1" = --inside ]; then
  directory=$2 node=$3
  shift 3
  mount --bind "$directory/$node" "$directory/node"
  echo "node$node" > /proc/sys/kernel/hostname
  NACRE_TESTBED=1 NACRE_NODE_ID=$node exec "$@"
fi

directory=$1 nodes=$2
shift 2
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${PMIX_RANK:-${SLURM_PROCID:-0}}}}
size=${OMPI_COMM_WORLD_SIZE:-${PMI_SIZE:-${SLURM_NTASKS:-1}}}
exec unshare --mount --uts -- "$0" --inside "$directory" $((rank * nodes / size)) "$@"
