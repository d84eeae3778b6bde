# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   bounds        measures how much of its error bound each proposer needs, with 10^8 pairs of each kind of data (under --ci
#                 900,000), on the CPU and all GPUs of this machine at once

packages_bounds=""

# Prints one job for each device, proposer and kind of data. A device without a proposer measures nothing for it.
bounds_jobs() {
  for spec in cpu $gpus; do
    for proposer in gemm dot bf16 fp16 int8; do
      for data in uniform normal grid equal offset clusters outliers subnormal huge integers; do
        echo "bounds.$(in_file_name "$spec").$proposer.$data $spec $proposer $data"
      done
    done
  done
}

# Each job takes one core.
gate_bounds() {
  find_gpus || return
  pairs=1e8 list=$logs/bounds.jobs
  [ -z "$short" ] || pairs=9e5  # from small problems; from 10^6 on, a single problem has 10^7 pairs
  bounds_jobs > "$list"
  rm -rf "$logs/bounds.taken" && mkdir "$logs/bounds.taken" || return
  worker=0
  while [ $((worker += 1)) -le "$jobs" ]; do
    while read -r name spec proposer data; do
      if mkdir "$logs/bounds.taken/$name" 2>/dev/null; then
        run_job "$name" env KITH_REQUIRE_DEVICE=1 KITH_BOUND_PAIRS=$pairs KITH_BOUND_PROPOSER="$proposer" KITH_BOUND_DATA="$data" \
          OMP_NUM_THREADS=1 "$kith_tests" "--device=$spec" --test-case="bounds: many pairs*"
      fi
    done < "$list" &
  done
  wait
  rm -rf "$logs/bounds.taken"
  cat "$logs"/bounds.*.log | grep -a ' of the bound' | sed 's/.*MESSAGE: //' | sort
  for spec in cpu $gpus; do
    name=bounds.$(in_file_name "$spec")
    measured=$(cat "$logs/$name".*.log | grep -a -c ' of the bound')
    # shellcheck disable=SC2046 # names
    judge "$spec" "$measured measured, $pairs pairs each" $(sed -n "s/^\($name\.[^ ]*\) .*/\1/p" "$list")
  done
}
