# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   sets          two GPUs as one device, both by CUDA, one by each back end, and these with the CPU: runs the tests of sets,
#                 20,000 random searches on each set (under --ci 200), and Python tests that need two. KITH_SETS names others

packages_sets=""

# Sets $sets to the sets that two cards make, or $why if there is only one. OpenCL numbers the second card differently.
find_sets() {
  sets=${KITH_SETS:-}
  [ -z "$sets" ] || return 0
  has_device cuda:1 || { why="no second card: $(tail -n 1 "$logs/probe.$gate")"; return 1; }
  second=$("$kith" devices | sed -n 's/^  \(opencl:[0-9]*\) .*NVIDIA CUDA.*/\1/p' | sed -n 2p)
  sets=cuda:0+cuda:1
  [ -z "$second" ] || sets="$sets cuda:0+$second cuda:0+$second+cpu"
}

gate_sets() {
  find_gpus || return
  find_sets || { skip "$why"; return; }
  count=20000
  [ -z "$short" ] || count=200
  for set in $sets; do
    job=sets.tests.$(in_file_name "$set")
    run_job "$job" env KITH_REQUIRE_DEVICE=1 "$kith_tests" "--device=$set" "--test-case=sets:*"
    judge "$set" "$(grep -a 'test cases' "$logs/$job.log" | tail -n 1)" "$job"
  done
  random_cases "$sets" $count
  if can_test_sources; then
    test_sources sets.python cuda:0 -k "device_sets or gpu"
  else
    echo "sets: without the Python tests: $why"
  fi
}
