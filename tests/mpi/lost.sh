#!/bin/sh
# lost.sh KITH KITH_MPI MPIRUN DIES kills ranks at many moments. The surviving ranks must write the same files as one
# process, in bounded time.
#
# DIES is the library built from dies.cpp. With $KITH_LOST_STEP = n only every n-th moment is tested (1: all), starting
# at one chosen by $KITH_DATE. Exits with 77 if MPI lacks User Level Failure Mitigation, as Open MPI 4 does.
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

rows() { # FILE ROWS (four octal bytes) BYTES: writes rows of 16 bytes as .u8bin
  # shellcheck disable=SC2059 # the bytes are the format
  { printf "$2"'\020\000\000\000' && head -c "$3" /dev/urandom; } > "$1"
}
rows base.u8bin '\040\116\000\000' 320000   # 20,000 rows
rows query.u8bin '\364\001\000\000' 8000    # 500 rows
rows few.u8bin '\003\000\000\000' 48        # 3 rows, so that one of four ranks has none
awk 'BEGIN { for (i = 0; i < 20000; ++i) print i * i % 5 }' > labels.txt

doubles() { # FILE ROWS: writes distances as rows of doubles, whose digits float32 loses
  awk "BEGIN { for (i = 0; i < $2; ++i) printf \"%.3f\\n\", i * i % 5003 / 1000 }" > near.csv
  printf '1000000000\n1000000001\n1000000003\n1000000007\n' > far.csv
  KITH_TUNING=off "$kith" search --device cpu --train far.csv --queries near.csv --metric l1 -k 4 \
    --prepare arithmetic=f64 --out-distance "$1" > out 2> err || { echo "mpi-lost: $1: $(cat err)"; exit 1; }
}
doubles base.npy 20000
doubles query.npy 500

arguments() { # COMMAND OUT
  options="--device cpu --how proposer=none --place threads=1 --queries query.u8bin"
  case $1 in
    search) echo "search $options --train base.u8bin -k 20 --out-index $2.ibin" ;;
    few) echo "search $options --train few.u8bin -k 3 --out-index $2.ibin" ;;
    within) echo "search $options --train base.u8bin --radius 200 --out-index $2.ivecs" ;;
    doubles) echo "search --device cpu --place threads=1 --queries query.npy --train base.npy -k 20 --out-index $2.ibin" ;;
    classify) echo "classify $options --train base.u8bin --labels labels.txt -k 9 --out $2.npy" ;;
  esac
}

# Runs four ranks, some of which die. No run takes nearly 60 s, unless a rank waits for a dead one.
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

# Tests every call of MPI in which ranks wait: before, during and after it, with each rank in turn.
sweep() { # COMMAND STEP
  count=$(grep -c '^call' log) number=$((1 + date / 10 % $2))
  while [ "$number" -le "$count" ]; do
    case $((number / $2 % 3)) in 0) when="" ;; 1) when="~" ;; *) when="+" ;; esac
    check "$1" "$(((number + number / 4) % 4)):$number$when"
    number=$((number + $2))
  done
}

for command in search within classify few doubles; do
  # shellcheck disable=SC2046 # a list of words
  KITH_TUNING=off "$kith" $(arguments $command one-$command) > out 2> err || { echo "mpi-lost: $command: $(cat err)"; exit 1; }
  run $command "" || { echo "mpi-lost: $command where none dies: mpirun returned $?: $(cat err)"; exit 1; }
  if [ $command = search ]; then sweep $command "$step"; else sweep $command $((step * 3)); fi
done

# Two ranks die: at once, and one after the other, the second while the others start again.
run search ""
last=$(sed -n 's/^call \([0-9]*\) MPI_Allreduce$/\1/p' log | tail -n 1)
check search "1:9,2:9"
check search "0:12~,3:20+"
check search "0:$last,1:9"

# MPI reports a death to one rank only; the calls of the others succeeded. Without MPIX_Comm_agree these would go on: at
# the very end they would leave, and inside the Index they would wait for ever. If MPIX_Comm_agree asks nobody, this
# happens, and the test must notice it.
check search "2:$last+,1:$last!"
check search "1:$last!"
if deaf=1 run search "1:$last!" 8; then
  echo "mpi-lost: ranks that agree with nobody ended all the same: this test notices nothing"
  exit 1
fi
echo "$ran moments at which ranks died: same bytes"
