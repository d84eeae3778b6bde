# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   aarch64       the library cross-compiled for AArch64 gives, under QEMU, the bits of this machine's: every metric, element
#                 and proposer of the CPU, by NEON and by plain loops
#
# QEMU 7.2 cannot start threads everywhere: on a virtual machine a program that only started one hung in pthread_create.
# So it gets one core, on which kith starts none.

packages_aarch64="g++-aarch64-linux-gnu qemu-user"
minimum_answers=200  # lines

# The output of tests/elsewhere/answers.cpp, from a library for AArch64.
answers_elsewhere() { # ISA
  KITH_CPU_ISA=$1 taskset -c 0 qemu-aarch64 -L "$libraries_elsewhere" -E LD_LIBRARY_PATH="$elsewhere/lib" \
    "$elsewhere/answers" > "$logs/answers.$1.txt" || return
  cmp "$logs/answers.here.txt" "$logs/answers.$1.txt"
}

gate_aarch64() {
  [ -e "$build/lib/libkith.so" ] || build_kith || return
  elsewhere=$build-aarch64 libraries_elsewhere=/usr/aarch64-linux-gnu
  [ -d $libraries_elsewhere ] || libraries_elsewhere=$unpacked$libraries_elsewhere
  configure default "$elsewhere" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DKITH_TESTS=OFF -DKITH_TOOLS=OFF -DKITH_LAB=OFF -DKITH_CUDA=OFF \
    -DKITH_OPENCL=OFF -DKITH_MPI=OFF -DKITH_HDF5=OFF &&
    cmake --build "$elsewhere" --parallel "$jobs" --target kith || return
  answers=tests/elsewhere/answers.cpp
  c++ -std=c++20 -O1 -Ilib/include $answers -o "$logs/answers" "$build/lib/libkith.so" "-Wl,-rpath,$build/lib" &&
    aarch64-linux-gnu-g++ -std=c++20 -O1 -Ilib/include $answers -o "$elsewhere/answers" "$elsewhere/lib/libkith.so" &&
    "$logs/answers" > "$logs/answers.here.txt" || return
  count=$(wc -l < "$logs/answers.here.txt")
  [ "$count" -ge $minimum_answers ] || { echo "answers.cpp printed $count lines, fewer than $minimum_answers"; return 1; }
  for isa in neon baseline; do answers_elsewhere $isa || return; done
  echo "aarch64: $count answers are the same by NEON and by plain loops"
}
