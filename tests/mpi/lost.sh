#!/bin/sh
# lost.sh KITH KITH_MPI MPIRUN: a rank is killed while it searches, and the others write what one process writes.
# Exits with 77 where MPI has no User Level Failure Mitigation, as Open MPI 4 has not.
set -eu
kith=$1 shared=$2 mpirun=$3
"$mpirun" --with-ft ulfm --oversubscribe --allow-run-as-root -np 1 true 2> /dev/null || exit 77
grep -q -a MPIX_Comm_shrink "$(ldd "$shared" | sed -n 's/.*libkith_mpi.so.0 => \([^ ]*\) .*/\1/p')" || exit 77
work=$(mktemp -d "${TMPDIR:-/tmp}/kith-lost-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

# 60,000 and 3,000 rows of 64 bytes, as .u8bin; one thread a rank, so that all are at work for some seconds.
{ printf '\140\352\000\000\100\000\000\000' && head -c 3840000 /dev/urandom; } > base.u8bin
{ printf '\270\013\000\000\100\000\000\000' && head -c 192000 /dev/urandom; } > query.u8bin
search="search --device cpu --proposer none --threads 1 --train base.u8bin --queries query.u8bin -k 20"
# shellcheck disable=SC2086 # a list of words
"$kith" $search --out-index one.ibin

for victim in 2 0; do
  rm -f pid.* shared.ibin*
  # shellcheck disable=SC2016,SC2086 # the shells of the ranks expand these; a list of words
  "$mpirun" --with-ft ulfm --oversubscribe --allow-run-as-root --bind-to none -np 4 \
    sh -c 'echo $$ > "pid.$OMPI_COMM_WORLD_RANK"; exec "$@"' sh "$shared" $search --out-index shared.ibin 2> err &
  job=$!
  waited=0
  until ls shared.ibin.partial-* > /dev/null 2>&1; do  # rank 0 has begun
    sleep 0.1
    waited=$((waited + 1))
    [ $waited -lt 300 ] || { echo "lost: the ranks did not begin: $(cat err)"; exit 1; }
  done
  sleep 0.3
  kill -9 "$(cat pid.$victim)" || { echo "lost: rank $victim was done before it was killed"; exit 1; }
  wait $job || { echo "lost: mpirun returned $?: $(cat err)"; exit 1; }
  grep -q '^kith: note: 1 of 4 ranks died; the others take all rows and begin again$' err ||
    { echo "lost: nothing was told of rank $victim: $(cat err)"; exit 1; }
  cmp one.ibin shared.ibin
  echo "rank $victim was killed: same bytes"
done
