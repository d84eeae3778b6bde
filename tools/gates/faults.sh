# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   faults        each allocation, each call of a device, of OpenCL or CUDA, and of the system for files fails in its
#                 turn, while kith searches, classifies, saves, opens ...; under --ci a sample, drawn by the date
#
# docs/faults.md says how many those are, and on what.

packages_faults="pocl-opencl-icd"

# A line for each operation is in faults.SPEC.
fail_on() { # SPEC FAULTS OF AN OPERATION; all where none are given
  log=$logs/faults.$1
  "$build/bin/kith_fault_tests" "$1" --seed "$date" ${2:+--sample "$2"} > "$log" 2>&1
  code=$?
  [ $code -eq 77 ] || tail -n 1 "$log"
  case $code in
    0) ;;
    77) echo "$1: skipped: $(tail -n 1 "$log")" ;;
    *) grep -A 3 '^WRONG' "$log" || tail -n 20 "$log"; return 1 ;;
  esac
}

gate_faults() {
  [ -x "$build/bin/kith_fault_tests" ] || build_kith || return
  wrong="" && echo "drawn by $date"
  fail_on cpu ${short:+40} || wrong=yes
  fail_on files ${short:+10} || wrong=yes
  fail_on opencl:pocl ${short:+2} || wrong=yes
  if has_nvidia_driver; then fail_on cuda:0 ${short:+2} || wrong=yes; fi
  [ -z "$wrong" ]
}
