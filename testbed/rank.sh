#!/bin/sh
# nacre-testbed-rank [--preload LIBRARY] DIRECTORY NODES COMMAND...
# Runs COMMAND as one rank on its emulated node. An MPI launcher starts it. Ranks are assigned to NODES nodes in blocks.
# Each rank gets its own mount and UTS namespaces, in which DIRECTORY/node is its node's mount and the host name is that of
# its node. COMMAND preloads LIBRARY, and this script does not: calls of POSIX would be counted here too.
set -eu

if [ "$1" = --inside ]; then
  directory=$2 node=$3 preload=$4
  shift 4
  mount --bind "$directory/$node" "$directory/node"
  echo "node$node" > /proc/sys/kernel/hostname
  if [ -n "$preload" ]; then
    export LD_PRELOAD="$preload${LD_PRELOAD:+:$LD_PRELOAD}"
  fi
  NACRE_TESTBED=1 NACRE_NODE_ID=$node exec "$@"
fi

preload=
if [ "$1" = --preload ]; then
  preload=$2
  shift 2
fi

directory=$1 nodes=$2
shift 2
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${PMIX_RANK:-${SLURM_PROCID:-0}}}}
size=${OMPI_COMM_WORLD_SIZE:-${PMI_SIZE:-${SLURM_NTASKS:-1}}}
exec unshare --mount --uts -- "$0" --inside "$directory" $((rank * nodes / size)) "$preload" "$@"
