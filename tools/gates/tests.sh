# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   tests         builds with gcc, all warnings as errors (--ci), and CUDA if nvcc is installed, on some days only if its
#                 kernels are new; then runs ctest. Under --ci each of opencl:pocl-gpu-* runs only on its day; with
#                 --devices the entries of devices run
#
# Found so far by random searches alone: a thread took back shared memory from another's launch, a sample wrote into others'
# memory, and a scale lost neighbours by cosine (docs/benchmarks.md). Other faults were found while they were written.

minimum_tests=24            # entries of ctest that passed, under --ci
minimum_assertions=3000000  # of doctest in them
minimum_of_a_day=1600000    # of doctest in those of them that --ci runs every day

packages_tests="pkg-config libclblast1 ccache libhdf5-dev libopenmpi-dev openmpi-bin"

attribute() { # NAME: prints this attribute of the first element of ctest's report
  sed -n "0,/<testsuite/d;s/^[[:space:]]*$1=\"\([0-9]*\)\".*/\1/p" "$logs/ctest.xml" | head -n 1
}

run_entries() { # ARGUMENTS OF CTEST...
  rm -f "$logs/ctest.xml"
  ctest --test-dir "$build" --parallel "$jobs" --output-on-failure --output-junit "$logs/ctest.xml" "$@"
}

# These entries run, without the long ones of PoCL. An entry that passed with these very binaries does not run again.
entries_of_devices='^(unit|fork-python|cpu|(opencl|cuda)[:-].*)$'

entries_to_run() {
  ctest --test-dir "$build" -N -R "$entries_of_devices" -E pocl-gpu | sed -n 's/^ *Test *#[0-9]*: //p' | tee "$logs/tests.entries" |
    while read -r entry; do passed_before "tests.$(in_file_name "$entry")" || echo "$entry"; done
}

# Prints "Passed", or ctest's words about an entry, or nothing if it did not start. If the gate runs out of time, that
# is no timeout of the entry.
verdict_of() { # ENTRY
  if passed_before "tests.$(in_file_name "$1")"; then echo Passed; return; fi
  sed -n "s/.* Test *#[0-9]*: $1 \.[ .]*//p" "$logs/tests.ctest" | if [ "$(time_left)" -gt 10 ]; then cat; else grep -v Timeout; fi
}

test_devices() {
  find_gpus || return
  to_run=$(entries_to_run | paste -sd '|')
  if [ -n "$to_run" ] && [ "$(time_left)" -gt 5 ]; then
    run_entries -R "^($to_run)\$" --stop-time "$(date -d "@$((deadline - 5))" +%T)" | tee "$logs/tests.ctest"
    cp "$build/Testing/Temporary/LastTest.log" "$logs/tests.output.log"
  else
    : > "$logs/tests.ctest"
  fi
  while read -r entry; do
    case $(verdict_of "$entry") in
      Passed*) passed=$((passed + 1)) && : > "$marks/tests.$(in_file_name "$entry")" ;;
      *Skipped*) judge_skipped "$entry" ;;
      "") echo "tests: unfinished: $entry" && outcome=unfinished ;;
      *) echo "tests: FAILED: $entry" && failed=$((failed + 1)) ;;
    esac
  done < "$logs/tests.entries"
}

# An entry must not be skipped if its device is there.
judge_skipped() { # ENTRY
  case " $gpus $required " in
    *" $1 "*) echo "tests: FAILED: $1 was skipped" && failed=$((failed + 1)) ;;
    *) echo "tests: skipped: $1" && skipped=$((skipped + 1)) ;;
  esac
}

# Each entry of ctest counts by itself.
gate_tests() {
  build_kith || return
  [ -z "$devices" ] || { test_devices; return; }
  without=none
  for entry in $left_out; do without="$without|$entry"; done
  run_entries -E "^($without)\$"
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
  [ -z "$short" ] || minimum_assertions=$minimum_of_a_day
  if [ "$ran" -lt "$minimum_tests" ] || [ "$assertions" -lt "$minimum_assertions" ]; then
    echo "These are fewer than the minimum: $minimum_tests and $minimum_assertions"
    return 1
  fi
}
