# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   environments  what users meet where drivers crash or hang, memory, threads, disk or home are missing

packages_environments=""

# Among the tests, too; by name for who changes what starts kith.
gate_environments() {
  [ -x "$kith_tests" ] || build_kith || return
  "$kith_tests" --test-suite=states
}
