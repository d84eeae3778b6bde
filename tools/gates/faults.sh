# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   faults        each allocation, each call of a device, of OpenCL or CUDA, and of the system for files fails in its
#                 turn, while kith searches, classifies, saves, opens ...; under --ci a sample, drawn by the date;
#                 with --devices a sample on the GPUs alone
#
# docs/faults.md has the numbers.

packages_faults="pocl-opencl-icd"

# Writes faults.SPEC.log, which has a line for each operation.
fail_on() { # SPEC FAULTS OF AN OPERATION; all where none are given
  job=faults.$(in_file_name "$1")
  run_job "$job" "$build/bin/kith_fault_tests" "$1" --seed "$date" ${2:+--sample "$2"}
  judge "$1" "$(last_line "$job")" "$job"
}

gate_faults() {
  [ -x "$build/bin/kith_fault_tests" ] || build_kith || return
  find_gpus || return
  readelf -d "$build/lib/libkith.so" | grep -q libstdc++ ||
    { skip "this compiler puts libstdc++ into libkith.so, where no program's operator new is called" "$ci"; return; }
  echo "drawn by $date"
  sample=${short:+2}
  if [ -n "$devices" ]; then
    sample=15
  else
    fail_on cpu ${short:+40}
    fail_on files ${short:+10}
    fail_on opencl:pocl "$sample"
  fi
  for spec in $gpus; do fail_on "$spec" "$sample"; done
}
