# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   tsan          the thread tests, and the pool of threads, under ThreadSanitizer

packages_tsan="clang-14"

gate_tsan() {
  configure tsan "$build-tsan" -DCMAKE_CXX_COMPILER=clang++-14 -DKITH_WERROR=ON &&
    cmake --build "$build-tsan" --parallel "$jobs" --target kith_thread_tests &&
    "$build-tsan/bin/kith_thread_tests"
}
