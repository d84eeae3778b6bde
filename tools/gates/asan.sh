# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   asan          the tests under AddressSanitizer and UndefinedBehaviorSanitizer, built by clang; after `tests`, which fills
#                 PoCL's cache of kernels: where PoCL 3.1 compiles, it leaks a little, and is told on; under --ci without
#                 the command, whose readers `fuzz` has

packages_asan="clang-14"

gate_asan() {
  [ -n "$short" ] && with_command=OFF || with_command=ON
  configure asan "$build-asan" -DCMAKE_CXX_COMPILER=clang++-14 -DKITH_WERROR=ON "-DKITH_TOOLS=$with_command" &&
    cmake --build "$build-asan" --parallel "$jobs" &&
    ctest --test-dir "$build-asan" --parallel "$jobs" --output-on-failure \
      -R '^(unit|cpu|cpu-inner-loops|opencl:pocl)$'
}
