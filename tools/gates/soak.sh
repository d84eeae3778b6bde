# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   soak          random work of 16 threads on all devices of this machine in one process: each answer is compared, and
#                 memory, descriptors and threads must not grow; first the soak must find planted faults. 20 s under
#                 --ci, else an hour; with --devices KITH_SOAK_SECONDS, 240

packages_soak=""

gate_soak() {
  build_kith kith_soak && find_gpus || return
  soak=$build/bin/kith_soak
  for fault in memory descriptor thread answer; do
    # shellcheck disable=SC2016 # of the inner shell
    run_job "soak.$fault" sh -c 'said=$("$0" --seconds 4 --few --device cpu --plant "$1" 2>&1) && found=no || found=yes
      printf "%s\n" "$said" | grep "^WRONG" && [ $found = yes ]' "$soak" $fault
  done
  judge "planted faults" "all four are found" soak.memory soak.descriptor soak.thread soak.answer
  [ "$outcome" = passed ] || return 0
  must=cpu
  [ -n "$devices" ] || must=$must,opencl:pocl
  for spec in $gpus; do must=$must,$spec; done
  set -- --seed "$date" --require "$must" --seconds 3600
  [ -z "$short" ] || set -- "$@" --seconds 20 --few
  [ -z "$devices" ] || set -- "$@" --seconds "${KITH_SOAK_SECONDS:-240}"
  run_job soak.work "$soak" "$@"
  cat "$logs/soak.work.log"
  judge "all at once" "$(last_line soak.work)" soak.work
}
