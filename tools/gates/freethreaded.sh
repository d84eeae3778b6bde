# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   freethreaded  the wheel and all its tests on a Python without a GIL: `python3.14t` or `python3.13t` on the PATH, with
#                 the packages that PyPI has for it. Skipped without one, and in the short form

packages_freethreaded="binutils"
minimum_freethreaded_tests=760  # that passed

# The environment is made again when the list of packages changes. Packages without a wheel on PyPI are left out and
# named, except those that most tests need. mypy reads sources alone, so the gate `python` runs it.
make_freethreaded_environment() { # PYTHON
  cmp -s python/tests/requirements.txt "$environment/requirements.txt" && return
  rm -rf "$environment" && mkdir -p "$python_tests" && "$1" -m venv "$environment" || return
  : > "$logs/freethreaded.pip" && : > "$environment/missing"
  grep -v -e '^#' -e '^mypy' python/tests/requirements.txt | while IFS= read -r package; do
    "$environment/bin/python" -m pip install --quiet --only-binary :all: "$package" >> "$logs/freethreaded.pip" 2>&1 && continue
    case $package in numpy* | scipy* | scikit-learn* | pytest* | auditwheel*) exit 1 ;; esac
    echo "${package%%==*}" >> "$environment/missing"
  done && cp python/tests/requirements.txt "$environment/"
}

gate_freethreaded() {
  [ -z "$short" ] || { skip "not in the short form"; return; }
  without_gil=$(command -v python3.14t || command -v python3.13t) || {
    skip "no free-threaded Python; build one by ./configure --disable-gil, and put it on the PATH"
    return
  }
  [ -e "$build/lib/libkith.so.0" ] || build_kith || return
  # Read by the functions of python.sh.
  python_tests=$root/build/freethreaded environment=$root/build/freethreaded/environment
  make_freethreaded_environment "$without_gil" || {
    echo "freethreaded: pip cannot get python/tests/requirements.txt: $(tail -n 1 "$logs/freethreaded.pip")"
    return 1
  }
  install_wheel || return
  run_python_tests cpu > "$logs/freethreaded.tests" 2>&1 || { cat "$logs/freethreaded.tests"; return 1; }
  cat "$logs/freethreaded.tests"
  ran=$(sed -n 's/.*[^0-9]*\b\([0-9][0-9]*\) passed.*/\1/p' "$logs/freethreaded.tests" | tail -n 1)
  echo "freethreaded: $("$environment/bin/python" -VV | head -n 1), without $(tr '\n' ' ' < "$environment/missing")"
  echo "freethreaded: $(tail -n 1 "$logs/freethreaded.tests")"
  [ "${ran:-0}" -ge $minimum_freethreaded_tests ] || { echo "freethreaded: fewer tests passed than $minimum_freethreaded_tests"; return 1; }
}
