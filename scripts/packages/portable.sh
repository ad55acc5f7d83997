#!/bin/sh
# Writes compilers whose libraries run on every Linux with glibc 2.28 or later (RHEL 8, Debian 10, SLES 15 SP3), however
# new the libraries of this machine are: `portable.sh VENV DIRECTORY` writes DIRECTORY/cc and DIRECTORY/c++.
# They call the Clang of the PyPI package ziglang in VENV, which links the versioned symbols of the glibc that it is
# asked for, and libc++ statically. GCC cannot do this: the libstdc++ of a GCC that knows coroutines needs a newer glibc
# (arc4random, _dl_find_object), and RHEL 8 and Debian 10 have no such GCC.
set -eu
venv=$1
directory=$2
glibc=2.28
zig=$(echo "$venv"/lib/python3*/site-packages/ziglang/zig)
[ -x "$zig" ] || { echo "portable.sh: no ziglang in $venv" >&2; exit 1; }
mkdir -p "$directory"
for language in cc c++; do
  cat > "$directory/$language.tmp" <<END
#!/bin/sh
export ZIG_GLOBAL_CACHE_DIR="\${ZIG_GLOBAL_CACHE_DIR:-$directory/cache}" ZIG_LOCAL_CACHE_DIR="\${ZIG_LOCAL_CACHE_DIR:-$directory/cache}"
exec "$zig" $language -target $(uname -m)-linux-gnu.$glibc "\$@"
END
  chmod +x "$directory/$language.tmp"
  mv "$directory/$language.tmp" "$directory/$language"
done
