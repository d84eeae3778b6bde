# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   asan          the tests under AddressSanitizer and UndefinedBehaviorSanitizer, built by clang. Runs after `tests`, which
#                 fills PoCL's cache of kernels: PoCL 3.1 leaks a little when it compiles, which would be reported. Under
#                 --ci a third of the test files, by the date, without the command, whose readers `fuzz` covers, and
#                 by the date's tens on the CPU or by PoCL, each as often
#
# Found so far: a copy of zero bytes from a null pointer, and a missing section of rows, both in index files.

packages_asan="clang-14"

gate_asan() {
  with_command=ON files="" targets=all entries="unit|cpu|cpu-inner-loops|opencl:pocl"
  if [ -n "$short" ]; then
    with_command=OFF targets=kith_tests
    if [ $(((date / 10 + date / 100) % 2)) -eq 0 ]; then entries="unit|cpu|cpu-inner-loops"; else entries="unit|opencl:pocl"; fi
    files=$(find tests -name 'test_*.cpp' | sort | awk -v day="$date" '(NR + day) % 3 == 0 { sub(".*/", ""); print }' | paste -sd ';')
  fi
  configure asan "$build-asan" -DCMAKE_CXX_COMPILER=clang++-14 -DKITH_WERROR=ON "-DKITH_TOOLS=$with_command" \
    "-DKITH_LAB=$with_command" "-DKITH_TEST_FILES=$files" &&
    cmake --build "$build-asan" --parallel "$jobs" --target $targets &&
    ctest --test-dir "$build-asan" --parallel "$jobs" --output-on-failure -R "^($entries)\$"
}
