# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   environments  what users see when drivers crash or hang, or memory, threads, disk or home are missing

packages_environments=""

# `tests` runs these, too. The gate serves those who change how kith starts.
gate_environments() {
  [ -x "$kith_tests" ] || build_kith || return
  "$kith_tests" --test-suite=states
}
