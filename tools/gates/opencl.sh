# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   opencl        the device tests by both families of kernels (KITH_CL_FAMILY) on every OpenCL implementation that can
#                 be installed: PoCL, Intel's from PyPI, Oclgrind, Mesa's rusticl; one line each, also if skipped.
#                 Under --ci a sample of random cases, whose numbers begin with the date
#
# docs/opencl.md has the results.
#
# Intel's implementation comes from PyPI, Mesa's from Debian. Both are unpacked into $opencl, without root, for these
# tests alone.

packages_opencl="libclblast1 python3-pip"

opencl=$root/build/opencl
# These are the runtime, the vector functions that it calls, and its threads.
intel_wheels="intel-opencl-rt==2026.2.0 intel-cmplr-lib-rt==2026.2.0 tbb==2023.2.0"

# Puts all libraries of the wheels into one folder, except the loader, which the machine has.
get_intel() {
  intel=$opencl/intel
  [ ! -e "$intel/complete" ] || return 0
  [ "$(uname -m)" = x86_64 ] || { why="it is for x86-64"; return 1; }
  rm -rf "$intel" && mkdir -p "$intel/lib" "$intel/vendors" || return
  # shellcheck disable=SC2086 # a list of words
  python3 -m pip download --quiet --no-deps --only-binary=:all: --dest "$intel/wheels" $intel_wheels \
    > "$logs/opencl.pip" 2>&1 || { why="pip cannot get its wheels: $logs/opencl.pip"; return 1; }
  python3 - "$intel" <<'END' || { why="its wheels cannot be unpacked"; return 1; }
import pathlib, sys, zipfile
folder = pathlib.Path(sys.argv[1])
for wheel in (folder / "wheels").glob("*.whl"):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            file = name.rpartition("/")[2]
            if ".data/data/lib/" in name and not file.startswith(("libOpenCL.so", "icx-lto.so")):
                (folder / "lib" / file).write_bytes(archive.read(name))
END
  rm -r "$intel/wheels" && echo "$intel/lib/libintelocl.so" > "$intel/vendors/intel.icd" && : > "$intel/complete"
}

get_mesa() {
  mesa=$opencl/mesa
  [ ! -e "$mesa/complete" ] || return 0
  command -v apt-get >/dev/null 2>&1 || { why="there is no apt-get"; return 1; }
  rm -rf "$mesa" && mkdir -p "$mesa/vendors" || return
  # shellcheck disable=SC2034 # for unpack_packages
  (unpacked=$mesa && unpack_packages mesa-opencl-icd) > "$logs/opencl.mesa" 2>&1 ||
    { why="apt-get cannot get mesa-opencl-icd: $logs/opencl.mesa"; return 1; }
  library=$(find "$mesa" -name 'libRusticlOpenCL.so.1' | head -n 1)
  [ -n "$library" ] || { why="mesa-opencl-icd has no rusticl"; return 1; }
  clc=/usr/lib/clc/spirv64-mesa3d-.spv  # compiled into rusticl, which looks nowhere else
  [ -e "$clc" ] || install_packages libclc-15 > "$logs/opencl.mesa" 2>&1
  [ -e "$clc" ] || { why="rusticl needs $clc, and libclc-15 cannot be installed here"; return 1; }
  echo "$library" > "$mesa/vendors/rusticl.icd" && : > "$mesa/complete"
}

# Runs "$@" with the drivers of one implementation alone; PoCL and Oclgrind are installed on the machine.
with_drivers() { # IMPLEMENTATION COMMAND...
  implementation=$1 && shift
  case $implementation in
    intel) env OCL_ICD_VENDORS="$intel/vendors" LD_LIBRARY_PATH="$intel/lib:${LD_LIBRARY_PATH:-}" "$@" ;;
    rusticl) env RUSTICL_ENABLE=llvmpipe OCL_ICD_VENDORS="$mesa/vendors" \
      LD_LIBRARY_PATH="$(find "$mesa" -name '*.so*' -printf '%h:' | tr ':' '\n' | sort -u | tr '\n' ':')${LD_LIBRARY_PATH:-}" "$@" ;;
    *) env "$@" ;;
  esac
}

verdict() { # IMPLEMENTATION, FAMILY, WORDS: a line of the gate's
  printf 'opencl: %-8s %-24s %-3s  %s\n' "$1" "$version" "$2" "$3"
}

# Prints what `kith devices` says about the device of a platform: number, version, and refusal ("none" if it is exact).
ask_device() { # IMPLEMENTATION FAMILY
  with_drivers "$1" KITH_CL_FAMILY="$2" "$kith" devices --json 2>/dev/null | python3 -c '
import json, sys
for backend in json.load(sys.stdin)["backends"]:
    for device in backend["devices"]:
        if backend["name"] == "opencl" and sys.argv[1] in (device["platform"] + device["driver"]).lower():
            print(device["spec"], device["driver"].split(" ")[0] or "?", device["refusal"] or "none")
            sys.exit()' "$(platform_of "$1")"
}

platform_of() { # IMPLEMENTATION: a part of the name of its platform
  case $1 in pocl) echo portable ;; *) echo "$1" ;; esac
}

# Returns whether a second process takes all programs that the first one compiled. PoCL is left out: it compiles the
# family `gpu` for minutes before it gives any program away. kith_tests tests its other family.
keeps_programs() { # IMPLEMENTATION FAMILY
  [ "$1" != pocl ] || return 0
  rm -rf "$opencl/kept.$1.$2"
  for process in first second; do
    with_drivers "$1" KITH_CL_FAMILY="$2" KITH_CL_CACHE="$opencl/kept.$1.$2" "$kith" devices > "$log.$process" 2>&1
  done
  grep -Eq '^  opencl:.*self-test passed in [^,]*, [0-9]+ programs compiled$' "$log.first" &&
    grep -Eq '^  opencl:.*self-test passed in [^,]*, [0-9]+ programs from the cache$' "$log.second"
}

# Runs the tests with one family of kernels: all of them by hand, some random cases under --ci. Writes the result to
# opencl.IMPLEMENTATION.FAMILY.line, and other files beside it.
test_family() { # IMPLEMENTATION FAMILY
  log=$logs/opencl.$1.$2 version=""
  # shellcheck disable=SC2046 # the refusal is all words after the first two
  set -- "$1" "$2" $(ask_device "$1" "$2")
  implementation=$1 family=$2 spec=${3:-} version=${4:-}
  [ -n "$spec" ] || { verdict "$implementation" "$family" "skipped: the loader finds no such device"; return 0; }
  shift 4
  case $* in
    none) ;;
    *"is not exact"*) verdict "$implementation" "$family" "FAILED: $*"; return 1 ;;
    *) verdict "$implementation" "$family" "refused: $*"; return 0 ;;
  esac
  keeps_programs "$implementation" "$family" ||
    { verdict "$implementation" "$family" "FAILED: a second process compiles again: $log.second"; return 1; }
  if [ -n "$short" ]; then
    first=${date}000 && ran="random cases from number $first"
    set -- "$kith" verify --device "$spec" --random-cases 300 --first "$first" --seconds 35
  else
    ran="device tests" && set -- "$kith_tests" --test-suite=device --device="$spec"
  fi
  mkdir -p "$opencl/cache.$family"
  with_drivers "$implementation" KITH_CL_FAMILY="$family" POCL_CACHE_DIR="$opencl/cache.$family" \
    OMP_WAIT_POLICY=passive KITH_REQUIRE_DEVICE=1 "$@" > "$log" 2>&1 ||
    { verdict "$implementation" "$family" "FAILED: $ran: $log"; tail -n 20 "$log"; return 1; }
  counted=$(sed -nE 's/.*: ([0-9]+ cases, [0-9]+ different).*/\1/p; s/.*test cases: *[0-9]+ \| *([0-9]+) passed.*/\1 passed/p' "$log" |
    tail -n 1)
  verdict "$implementation" "$family" "passed: $ran: $counted"
}

# Tests both families, at the same time in the short form.
test_families() { # IMPLEMENTATION
  test_family "$1" cpu > "$logs/opencl.$1.cpu.line" &
  first_job=$!
  [ -z "$short" ] || test_family "$1" gpu > "$logs/opencl.$1.gpu.line" &
  second_job=$!
  wait $first_job || differs=yes
  wait $second_job || differs=yes
  [ -n "$short" ] || test_family "$1" gpu > "$logs/opencl.$1.gpu.line" || differs=yes
  cat "$logs/opencl.$1.cpu.line" "$logs/opencl.$1.gpu.line"
}

test_pocl() {
  case "${short:+short} $gates " in
    "short "*" tests "*) version=$(is_here pocl-opencl-icd && echo here) && verdict pocl both "the device tests are those of gate tests" ;;
    *) test_families pocl ;;
  esac
}

# The gate `oclgrind` runs every kernel; all tests of a device would take far too long.
test_oclgrind() {
  version=$(oclgrind --version 2>/dev/null | sed -n 's/^Oclgrind \([0-9.]*\).*/\1/p')
  if [ -n "$short" ]; then verdict oclgrind both "every kernel on small shapes: gate oclgrind"; return; fi
  for family in cpu gpu; do
    log=$logs/opencl.oclgrind.$family
    if under_oclgrind "$log.found" KITH_CL_FAMILY=$family "$kith" compare --stage nearest,merge,vote \
      --metric negative_dot -n 200 -m 65 --dims 3 -k 4 --how lists=2 > "$log" 2>&1 && [ ! -s "$log.found" ]; then
      verdict oclgrind $family "passed: nearest, merge and vote of 65 queries; the rest: gate oclgrind"
    else
      verdict oclgrind $family "FAILED: $log"
      differs=yes
    fi
  done
}

test_opencl() {
  mkdir -p "$opencl"
  differs="" version=""
  if is_here pocl-opencl-icd; then test_pocl; else verdict pocl both "skipped: it is not installed" && differs=${ci:+yes}; fi
  if get_intel; then test_families intel; else verdict intel both "skipped: $why"; fi
  if command -v oclgrind >/dev/null; then test_oclgrind; else verdict oclgrind both "skipped: it is not installed"; fi
  if get_mesa; then test_families rusticl; else verdict rusticl both "skipped: $why"; fi
  [ -z "$differs" ]
}

gate_opencl() {
  [ -x "$kith_tests" ] || build_kith || return
  test_opencl
}
