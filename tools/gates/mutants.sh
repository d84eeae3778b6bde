# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   mutants       bugs planted in a copy of the sources, each of which a test must notice; under --ci three of them,
#                 drawn by the date; docs/mutants.md lists all. Skipped if PyPI cannot be reached, but not under --ci

packages_mutants="ccache oclgrind python3-venv libopenmpi-dev openmpi-bin"

# Runs after `tests`, whose objects and kernels come from the caches. pytest comes from the gate `python`.
gate_mutants() {
  make_environment || { skip_without_pypi; return; }
  # shellcheck disable=SC2086 # a list of words
  python3 -B tests/mutants/mutants.py --work "$build/mutants" --jobs "$jobs" \
    ${ci:+--werror} ${short:+--draw 3 --date $date}
}
