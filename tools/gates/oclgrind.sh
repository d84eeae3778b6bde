# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   oclgrind      every OpenCL kernel but those for tensor cores under Oclgrind, after it has caught a planted race
#
# Found so far: planted faults, among them missing barriers that PoCL's order of work-items hides (docs/opencl.md), and
# values that kith_double_chains_wide copied although it had not written them, and dropped.

packages_oclgrind="oclgrind libclblast1"
uninitialized=--uninitialized

# Runs a program under Oclgrind, without optimisation: Oclgrind does not know an instruction of optimised code (freeze).
under_oclgrind() { # LOG VARIABLE=VALUE PROGRAM ARGUMENTS...
  # shellcheck disable=SC2086 # no word where it is empty
  log=$1 variable=$2 && shift 2 && : > "$log" &&
    env "$variable" oclgrind --build-options -cl-opt-disable --data-races $uninitialized --check-api \
      --inst-counts --log "$log" "$@" --device=opencl:oclgrind
}

# Runs "$@" under Oclgrind, unless another worker has taken this job. FOLDER/N.out has its output and Oclgrind's
# findings, and a line "Failed: ..." if there are any, or the run did not report success.
unless_taken() { # FOLDER VARIABLE=VALUE PROGRAM ARGUMENTS...
  folder=$1 number=$((number + 1)) && shift
  mkdir "$folder/$number.taken" 2>/dev/null || return 0
  found=$folder/$number.found out=$folder/$number.out
  under_oclgrind "$found" "$@" > "$out" 2>&1 && [ ! -s "$found" ] &&
    grep -qE 'Same bits everywhere|Status: SUCCESS' "$out" && return
  { [ ! -s "$found" ] || { echo "Oclgrind found:"; head -n 40 "$found"; }; echo "Failed: $*"; } >> "$out"
}

# Runs stages alone, since Oclgrind 21.10 may consider the end of memory that only kernels write uninitialised. This
# happens with the memory of groups (of the CPU's kernels) and of boxes after other kernels have run, so the former run by
# themselves, and of boxes all other checks are made, as where kernels compute with what lies behind the last row, and drop
# it. Several workers share the jobs.
every_kernel_under_oclgrind() { # FOLDER
  stages=distance,select,nearest,merge,collect,rerank,tighten,vote,mask,score,accumulate
  number=0
  # These are no stages of `kith compare`: quantized rows, their products by kith or by CLBlast's own kernels, bounds,
  # ways to vote, groups, chains in double precision, and boxes.
  cases='prepare: worked out on paper,certificate: a product of one column*,vote: all methods*,*: the step in small*'
  cases="$cases,dot: worked out on paper,prune: by hand,bounds: afresh*,bounds: the threshold*few hundred"
  unless_taken "$1" KITH_CL_FAMILY=gpu "$kith_tests" --test-case="$cases,groups: by hand*"
  unless_taken "$1" KITH_CL_FAMILY=cpu "$kith_tests" --test-case="$cases"
  unless_taken "$1" KITH_CL_FAMILY=cpu "$kith_tests" --test-case="groups: by hand*"
  uninitialized=""
  for family in gpu cpu; do unless_taken "$1" KITH_CL_FAMILY=$family "$kith_tests" --test-case="boxes: by hand*"; done
  unless_taken "$1" KITH_CL_FAMILY=gpu "$kith_tests" \
    --test-case="sums: by hand*,periodic: on a dyadic grid*,unit: the first row of zeros*"
  uninitialized=--uninitialized
  for case in "byte grid: keys*" "byte grid: two blocks*" "land: what is found*" "finish: distances*"; do
    unless_taken "$1" KITH_CL_FAMILY=gpu "$kith_tests" --test-case="$case"
  done
  for run in "gpu --stage $stages -n 300 -m 3 --dims 7 -k 9" \
    "cpu --stage $stages -n 300 -m 3 --dims 7 -k 9" \
    "gpu --stage nearest -n 200 -m 65 --dims 3 -k 4 --how lists=2" \
    "gpu --stage nearest -n 1100 -m 1 --dims 3 -k 4 --how lists=1" \
    "gpu --stage nearest -n 200 -m 65 --dims 17 -k 4 --how lists=2" \
    "gpu --stage merge -n 200 -m 2 --dims 1 -k 30 --how lists=1" \
    "gpu --stage tighten -n 1300 -m 2 --dims 1 -k 1100" \
    "gpu --stage select --how selector=bubble -n 100 -m 2 --dims 1 -k 40 --how lists=2" \
    "gpu --stage select --how selector=threshold -n 1200 -m 1 --dims 1 -k 1100 --how lists=1" \
    "gpu --stage select --how selector=threshold -n 6200 -m 1 --dims 1 -k 96 --how lists=1" \
    "gpu --stage select --how selector=k_min -n 2100 -m 1 --dims 1 -k 3 --how lists=1" \
    "gpu --stage select --how selector=odd_even -n 1030 -m 1 --dims 1 -k 3 --how lists=1" \
    "gpu --stage select --how selector=bitonic -n 2100 -m 1 --dims 1 -k 3 --how lists=1" \
    "gpu --stage select --how selector=radix -n 8192 -m 1 --dims 1 -k 100 --how lists=1" \
    "gpu --stage mask,score -n 8300 -m 2 --dims 1 -k 300 --classes 20" \
    "gpu --stage accumulate -n 300 -m 70 --dims 1 --classes 20" \
    "cpu --stage mask,score,accumulate -n 4200 -m 2 --dims 1 -k 20 --classes 20" \
    "cpu --stage select,merge -n 100 -m 2 --dims 1 -k 60 --how lists=2"; do
    # shellcheck disable=SC2086 # a list of words
    unless_taken "$1" KITH_CL_FAMILY=${run%% *} "$kith" compare ${run#* }
  done
}

gate_oclgrind() {
  [ -x "$kith" ] || build_kith || return
  planted=$logs/planted found=$logs/oclgrind.found runs=$logs/oclgrind.runs
  rm -rf "$planted" && cp -R kernels_cl "$planted" &&
    sed '/barrier(/d' kernels_cl/select/published/select_bubble.cl > "$planted/select/published/select_bubble.cl" || return
  under_oclgrind "$found" KITH_CL_DIR="$planted" "$kith" compare --stage select --how selector=bubble \
    -n 99 -m 1 --dims 2 -k 4 > "$planted/run" 2>&1
  grep -qi 'data race' "$found" || { echo "Oclgrind did not catch the race planted in select_bubble.cl"; return 1; }
  rm -rf "$logs/oclgrind" && mkdir -p "$logs/oclgrind" || return
  worker=0
  while [ $((worker += 1)) -le "$jobs" ]; do every_kernel_under_oclgrind "$logs/oclgrind" & done
  wait
  cat "$logs"/oclgrind/*.out > "$runs"
  if failed_runs=$(grep -l '^Failed: ' "$logs"/oclgrind/*.out); then
    # shellcheck disable=SC2086 # a list of files
    grep -hvE '^( +[0-9]+ - |Instructions|$)' $failed_runs
    return 1
  fi
  # Oclgrind cannot run kernels for tensor cores and bytes and what only they need, nor the kernel that only waits.
  find kernels_cl -name '*.cl' ! -name '*fp16*' ! -name '*int8*' ! -name '*small_batch*' ! -name '*fused_test*' ! -name '*tighten_sample*' ! -name rerank_lines.cl ! -name collect_tiles.cl \
    ! -name hold.cl -exec \
    sed -n 's/^void \(kith_[a-z0-9_]*\)(.*/\1/p; s/^kernel .*void \(kith_[a-z0-9_]*\)(.*/\1/p' {} + |
    while read -r kernel; do
      grep -q "for kernel '$kernel'" "$runs" || { echo "No run used kernel $kernel"; exit 1; }
    done
}
