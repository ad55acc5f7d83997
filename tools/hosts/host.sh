#!/bin/sh
# The first process of an emulated host: `host.sh NAME SHARED-DIRECTORY`, run in new namespaces. Sets up the host,
# prints the process number of this script outside the namespaces, and then sleeps to keep the host alive.
set -eu
name=$1
shared=$2

# /proc still shows the process numbers outside the namespaces.
read -r number _ < /proc/self/stat
mount -t proc proc /proc
echo "$name" > /proc/sys/kernel/hostname

# The new /dev/shm is mounted elsewhere first and then moved: the shared directory may lie in the /dev/shm that it
# hides.
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
