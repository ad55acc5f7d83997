#!/bin/sh
# Runs a command in a new mount namespace with a tmpfs of 1 MiB at $NACRE_TEST_TMPFS, a read-only tmpfs at
# $NACRE_TEST_READ_ONLY and a /dev/shm of 64 MiB, as in containers. If this user may not create mount namespaces, runs
# the command without them, and the test skips itself.
inside='
  root=$(mktemp -d) && mkdir "$root/small" "$root/readonly" &&
  mount -t tmpfs -o size=1m none "$root/small" && mount -t tmpfs -o ro none "$root/readonly" &&
  mount -t tmpfs -o size=64m none /dev/shm &&
  export NACRE_TEST_TMPFS="$root/small" NACRE_TEST_READ_ONLY="$root/readonly"
  "$@"
  status=$?
  umount "$root/small" "$root/readonly" && rm -r "$root"
  exit $status'
if unshare --mount true 2>/dev/null; then
  exec unshare --mount sh -c "$inside" sh "$@"
elif unshare --user --map-root-user --mount true 2>/dev/null; then
  exec unshare --user --map-root-user --mount sh -c "$inside" sh "$@"
fi
exec "$@"
