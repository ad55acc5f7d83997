#!/bin/sh
# One host, as its first process: `host.sh NAME SHARED-DIRECTORY`, in new namespaces that nothing has been done to.
# Prints its process number outside once the host is there, and then only keeps it there.
set -eu
name=$1
shared=$2

# /proc is still the one outside.
read -r number _ < /proc/self/stat
mount -t proc proc /proc
echo "$name" > /proc/sys/kernel/hostname

# Made elsewhere and moved into its place: what is to be seen on all hosts may lie in the /dev/shm that it hides.
memory=/run/$name.memory
mkdir "$memory"
mount -t tmpfs -o mode=1777 tmpfs "$memory"
case $shared in
  /dev/shm/*)
    mkdir -p "$memory/${shared#/dev/shm/}"
    mount --bind "$shared" "$memory/${shared#/dev/shm/}"
    ;;
esac
mount --move "$memory" /dev/shm
mount -t tmpfs -o mode=1777 tmpfs /run

echo "$number"
exec sleep infinity
