# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   shell         shellcheck on all scripts

packages_shell="shellcheck"

gate_shell() {
  shellcheck -x tools/quickstart tools/check tools/setup.sh tools/gates/*.sh tools/gates/*/*.sh .ci/run tests/package/test.sh tests/pages/from_nothing.sh tests/mutants/compile.sh
}
