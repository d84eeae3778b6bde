# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   soak          random work of 16 threads on all devices here in one process, each answer compared; memory,
#                 descriptors and threads stay; first it must find planted faults. 20 s under --ci, else an hour

packages_soak=""

gate_soak() {
  build_kith && cmake --build "$build" --parallel "$jobs" --target kith_soak || return
  soak=$build/bin/kith_soak
  for fault in memory descriptor thread answer; do
    if "$soak" --seconds 4 --few --device cpu --plant $fault > "$logs/soak.planted" 2>&1 ||
      ! grep -q '^WRONG' "$logs/soak.planted"; then
      cat "$logs/soak.planted"
      echo "soak: a planted fault was not found: $fault"
      return 1
    fi
  done
  set -- --seed "$date" --require cpu,opencl:pocl
  if [ -n "$short" ]; then set -- "$@" --seconds 20 --few; else set -- "$@" --seconds 3600; fi
  "$soak" "$@"
}
