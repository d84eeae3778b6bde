# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   tests         gcc with all warnings as errors (--ci); CUDA too where nvcc is; then ctest; under --ci each of
#                 opencl:pocl-gpu-* on its day alone

minimum_tests=25            # entries of ctest that passed, under --ci
minimum_assertions=3000000  # of doctest in them

packages_tests="pkg-config libclblast1 ccache libhdf5-dev libopenmpi-dev openmpi-bin"

attribute() { # NAME: of the first element of ctest's report
  sed -n "0,/<testsuite/d;s/^[[:space:]]*$1=\"\([0-9]*\)\".*/\1/p" "$logs/ctest.xml" | head -n 1
}

# Counts each entry of ctest by itself.
gate_tests() {
  build_kith || return
  rm -f "$logs/ctest.xml"
  without=none
  for part in $not_today; do without="$without|opencl:$part"; done
  ctest --test-dir "$build" --parallel "$jobs" --output-on-failure --output-junit "$logs/ctest.xml" -E "^($without)\$"
  tests=$(attribute tests) not_run=$(($(attribute disabled) + $(attribute skipped)))
  failed=$((failed + $(attribute failures))) skipped=$((skipped + not_run))
  ran=$((tests - not_run - $(attribute failures))) passed=$((passed + ran))
  assertions=$(sed -n 's/^\[doctest\] assertions: *\([0-9]*\) .*/\1/p' "$build/Testing/Temporary/LastTest.log" |
    awk '{ n += $1 } END { print n + 0 }')
  echo "$ran entries of ctest passed, with $assertions assertions"
  [ -n "$ci" ] || return 0
  for spec in cpu opencl:pocl; do
    grep -q "<testcase name=\"$spec\".*status=\"run\"" "$logs/ctest.xml" ||
      { echo "The tests on $spec did not pass, and they must"; return 1; }
  done
  if [ "$ran" -lt "$minimum_tests" ] || [ "$assertions" -lt "$minimum_assertions" ]; then
    echo "These are fewer than the minimum: $minimum_tests and $minimum_assertions"
    return 1
  fi
}
