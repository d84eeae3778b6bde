#!/bin/sh
# lost.sh KITH KITH_MPI MPIRUN DIES: ranks are killed at one moment after another, and the others write what one
# process writes, in bounded time.
#
# DIES is the library of dies.cpp. $KITH_LOST_STEP takes every so manyth moment (1: all), the first by $KITH_DATE.
# Exits with 77 where MPI has no User Level Failure Mitigation, as Open MPI 4 has not.
set -eu
kith=$1 shared=$2 mpirun=$3 dies=$4 step=${KITH_LOST_STEP:-4} date=${KITH_DATE:-0}
skip() { echo "mpi-lost: skipped: $1; tools/check --only mpi gets Open MPI 5 from PyPI"; exit 77; }
"$mpirun" --with-ft ulfm --oversubscribe --allow-run-as-root -np 1 true 2> /dev/null ||
  skip "$mpirun has no --with-ft ulfm, as Open MPI 4 has not"
grep -q -a MPIX_Comm_shrink "$(ldd "$shared" | sed -n 's/.*libkith_mpi.so.0 => \([^ ]*\) .*/\1/p')" ||
  skip "kith was built with an MPI that has no MPIX_Comm_shrink"
work=$(mktemp -d "${TMPDIR:-/tmp}/kith-lost-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

rows() { # FILE ROWS, as four octal bytes, BYTES: rows of 16 bytes, as .u8bin
  # shellcheck disable=SC2059 # the bytes are the format
  { printf "$2"'\020\000\000\000' && head -c "$3" /dev/urandom; } > "$1"
}
rows base.u8bin '\040\116\000\000' 320000   # 20,000
rows query.u8bin '\364\001\000\000' 8000    # 500
rows few.u8bin '\003\000\000\000' 48        # 3, so that of four ranks one has none
awk 'BEGIN { for (i = 0; i < 20000; ++i) print i * i % 5 }' > labels.txt

arguments() { # COMMAND OUT
  options="--device cpu --how proposer=none --threads 1 --queries query.u8bin"
  case $1 in
    search) echo "search $options --train base.u8bin -k 20 --out-index $2.ibin" ;;
    few) echo "search $options --train few.u8bin -k 3 --out-index $2.ibin" ;;
    within) echo "search $options --train base.u8bin --radius 200 --out-index $2.ivecs" ;;
    classify) echo "classify $options --train base.u8bin --labels labels.txt -k 9 --out $2.npy" ;;
  esac
}

# By four ranks, of which some die. 60 s are far more than any run takes; who waits for the dead takes them all.
run() { # COMMAND DIES [SECONDS]
  rm -rf shared.* log
  # shellcheck disable=SC2046 # a list of words
  timeout -k 5 "${3:-60}" "$mpirun" --with-ft ulfm --oversubscribe --allow-run-as-root --bind-to none -np 4 \
    env LD_PRELOAD="$dies" KITH_DIES="$2" KITH_DIES_LOG="$work/log" KITH_DIES_DEAF="${deaf-}" \
    "$shared" $(arguments "$1" shared) > out 2> err < /dev/null
}

ran=0
check() { # COMMAND DIES
  run "$1" "$2" || { echo "mpi-lost: $1, $2: mpirun returned $?: $(grep -v '^call' log) $(cat err)"; exit 1; }
  grep -q '^rank . \(died\|was told\)' log || { echo "mpi-lost: $1, $2: no rank died"; exit 1; }
  for file in one-"$1".*; do cmp "$file" "shared.${file#one-"$1".}" || { echo "mpi-lost: $1, $2"; exit 1; }; done
  ran=$((ran + 1))
}

# Every call of MPI that ranks wait in, before it, in it and after it, by each rank in turn.
sweep() { # COMMAND STEP
  count=$(grep -c '^call' log) number=$((1 + date % $2))
  while [ "$number" -le "$count" ]; do
    case $((number / $2 % 3)) in 0) when="" ;; 1) when="~" ;; *) when="+" ;; esac
    check "$1" "$(((number + number / 4) % 4)):$number$when"
    number=$((number + $2))
  done
}

for command in search within classify few; do
  # shellcheck disable=SC2046 # a list of words
  KITH_TUNING=off "$kith" $(arguments $command one-$command) > out 2> err || { echo "mpi-lost: $command: $(cat err)"; exit 1; }
  run $command "" || { echo "mpi-lost: $command where none dies: mpirun returned $?: $(cat err)"; exit 1; }
  if [ $command = search ]; then sweep $command "$step"; else sweep $command $((step * 3)); fi
done

# Two ranks, at once and one after the other; the second while the others begin again.
run search ""
last=$(sed -n 's/^call \([0-9]*\) MPI_Allreduce$/\1/p' log | tail -n 1)
check search "1:9,2:9"
check search "0:12~,3:20+"
check search "0:$last,1:9"

# MPI tells one rank of a death, and the others have got what they waited for. At the very end these would not come
# back, and within the Index they would wait for ever, were it not for MPIX_Comm_agree. Where that asks nobody, they
# do, and this test sees it.
check search "2:$last+,1:$last!"
check search "1:$last!"
if deaf=1 run search "1:$last!" 8; then
  echo "mpi-lost: ranks that agree with nobody ended all the same: this test notices nothing"
  exit 1
fi
echo "$ran moments at which ranks died: same bytes"
