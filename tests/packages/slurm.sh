#!/bin/sh
# In a system with the .deb, Slurm, and the headers of Slurm: builds and installs the SPANK plugin as docs/site.md says,
# starts a Slurm of one node in FOLDER, where slurm.conf is, and runs COMMAND: `slurm.sh FOLDER COMMAND...`.
set -eu
folder=$1
shift
cmake -S /opt/nacre/share/nacre/slurm -B "$folder/spank" -DNACRE_PREFIX=/opt/nacre
cmake --build "$folder/spank"
cmake --install "$folder/spank" --prefix /opt/nacre
echo 'optional /opt/nacre/lib/slurm/nacre.so' > "$folder/plugstack.conf"

mkdir -p "$folder/state" "$folder/spool"
export SLURM_CONF="$folder/slurm.conf"
head -c 128 /dev/urandom > "$folder/munge.key"
chmod 400 "$folder/munge.key"
munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munge.pid" \
  --log-file="$folder/munge.log" --seed-file="$folder/munge.seed"
slurmctld -c
slurmd
for second in $(seq 120); do
  [ "$(sinfo -h -o %T)" != idle ] || break
  sleep 1
done
if [ "$(sinfo -h -o %T)" != idle ]; then
  tail -n 30 "$folder"/*.log
  exit 1
fi
"$@"
