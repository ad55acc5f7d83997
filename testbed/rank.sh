#!/bin/sh
# One rank on its simulated node: `nacre-testbed-rank DIRECTORY NODES COMMAND...`, started by an MPI's launcher.
# Ranks are dealt to nodes in blocks. In a mount namespace and a UTS namespace of its own the rank sees its node's mount as
# DIRECTORY/node and has its node's host name.
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
