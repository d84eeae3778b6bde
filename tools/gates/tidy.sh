# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   tidy          clang-tidy (.clang-tidy) on lib and backends; under --ci on its day a third of the files, by the date
#
# Found so far: a product of sizes that was computed in 32 bits.

packages_tidy="clang-14 clang-tidy-14"

gate_tidy() {
  configure default "$build-tidy" -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_UNITY_BUILD=OFF \
    -DKITH_CUDA_ARCHITECTURES=90-real || return
  sed -n 's/^ *"file": "\(.*\.cpp\)".*/\1/p' "$build-tidy/compile_commands.json" |
    grep -E "^$root/(lib|backends)/" | awk -v day="${short:+$date}" '!day || (NR + day) % 3 == 0' |
    xargs -P "$jobs" -n 3 clang-tidy-14 -p "$build-tidy" --quiet --warnings-as-errors='*'
}
