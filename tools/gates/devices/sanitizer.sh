# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   sanitizer     CUDA: compute-sanitizer's four tools run the kernels, all at once, after each has found a planted bug
#                 (tests/planted). KITH_SANITIZER_SECONDS: seconds of random cases for each tool, twice; 40, under --ci 5

packages_sanitizer=""

# Prints the work that a tool watches, one line per run.
# Under synccheck (2025.3) a kernel may hang if its blocks do not all fit at once, its threads meet at barriers when a
# block begins, and it then works for long; forty lines with barriers that all threads reach suffice. With 70 queries
# all blocks of rank_sort fit at once.
sanitized_work() { # TOOL
  queries="-m 100" random="--seconds ${KITH_SANITIZER_SECONDS:-$case_seconds} --seed 3"
  [ "$1" != synccheck ] || queries="-m 70 --how lists=8"
  cat <<END_OF_WORK
-n 700 -m 20 --dims 17 -k 9
-n 9000 $queries --dims 5 -k 20
-n 3000 -m 3 --dims 3 -k 100 --metric l1
-n 2000 -m 1 --dims 130 -k 1500 --metric cosine
--stage search -n 3000 -m 150 --dims 70 -k 9 --how proposer=gemm
--stage search -n 3000 -m 150 --dims 72 -k 9 --how proposer=fp16
--stage search -n 40000 -m 100 --dims 3 -k 9 --how proposer=fp16
--stage search -n 3000 -m 20 --dims 70 -k 9 --how proposer=fp16
--stage search -n 3000 -m 20 --dims 152 -k 9 --how proposer=int8
--random-cases 100000 --proposed $random
--random-cases 100000 $random
END_OF_WORK
}

# The tool must find the bug in tests/planted/TOOL.cu, else a clean report means nothing. A run of more than
# 160 s hangs.
sanitize() { # TOOL
  # shellcheck disable=SC2016 # of the inner shell
  run_job "sanitizer.$1.planted" sh -c 'nvcc -o "$2" "$1" || exit
    timeout 60 compute-sanitizer --tool "$0" --error-exitcode 9 "$2"
    code=$?
    [ $code -eq 9 ] || { echo "The planted bug is not caught: exit code $code"; exit 1; }' \
    "$1" "$root/tests/planted/$1.cu" "$marks/planted-$1"
  has_passed "sanitizer.$1.planted" || return
  number=0
  sanitized_work "$1" | while read -r work; do
    number=$((number + 1))
    # shellcheck disable=SC2086 # words
    run_job "sanitizer.$1.$number" timeout -s KILL 160 compute-sanitizer --tool "$1" --error-exitcode 9 \
      "$kith" compare --device cuda:0 $work
  done
}

gate_sanitizer() {
  find_gpus || return
  has_device cuda:0 || { skip "no cuda:0: $(tail -n 1 "$logs/probe.$gate")"; return; }
  for tool in nvcc compute-sanitizer; do
    command -v $tool >/dev/null || { skip "no $tool" "$ci"; return; }
  done
  case_seconds=40
  [ -z "$short" ] || case_seconds=5
  tools="memcheck racecheck initcheck synccheck"
  for tool in $tools; do sanitize "$tool" & done
  wait
  for tool in $tools; do
    set -- "sanitizer.$tool.planted"
    for number in $(seq "$(sanitized_work "$tool" | wc -l)"); do set -- "$@" "sanitizer.$tool.$number"; done
    found=$(cat "$logs/sanitizer.$tool".*.log | grep -a ' cases, ' | sed 's/.*: \([0-9]* cases\).*/\1/' | tr '\n' ' ')
    judge "$tool" "planted bug caught; nothing found in fixed shapes and ${found:-0 cases}" "$@"
  done
}
