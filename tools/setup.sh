# shellcheck shell=sh
# shellcheck disable=SC2154 # whoever sources this sets $root
# tools/quickstart and tools/check source this, with $root set to the source tree, to get what is missing, to
# configure and to build.
#
# Missing packages are installed with apt-get by root, or through sudo where that needs no password. Other
# users get them downloaded and unpacked into $unpacked, which changes nothing else on the machine.

unpacked=$root/build/packages
# shellcheck disable=SC2034 # for whoever sources this
jobs=$(nproc 2>/dev/null || echo 2)

say() { printf '%s\n' "$*" >&2; }

below_usr() { # PATH: whether it is below one of the usual folders, or unpacked
  for folder in /usr /usr/local "$unpacked/usr"; do
    for path in "$folder/$1" "$folder"/lib/*-linux-gnu/"$1"; do [ ! -e "$path" ] || return 0; done
  done
  return 1
}

# Returns whether the content of a package is here, however it came.
is_here() {
  case $1 in
    g++) command -v c++ || command -v g++ ;;
    g++-aarch64-linux-gnu) command -v aarch64-linux-gnu-g++ ;;
    qemu-user) command -v qemu-aarch64 ;;
    abigail-tools) command -v abidw && command -v abidiff ;;
    ninja-build) command -v ninja || command -v make ;;
    zlib1g-dev) below_usr include/zlib.h ;;
    libhdf5-dev) below_usr include/hdf5/serial/hdf5.h ;;
    libopenmpi-dev) below_usr openmpi/include/mpi.h ;;
    openmpi-bin) command -v mpirun ;;
    libcli11-dev) below_usr include/CLI/CLI.hpp ;;
    nlohmann-json3-dev) below_usr include/nlohmann/json.hpp ;;
    doctest-dev) below_usr include/doctest/doctest.h ;;
    opencl-clhpp-headers) below_usr include/CL/opencl.hpp && below_usr include/CL/cl.h ;;
    ocl-icd-opencl-dev) below_usr libOpenCL.so ;;
    pocl-opencl-icd) ls "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}"/pocl*.icd ;;
    libclblast1) below_usr libclblast.so.1 ;;
    libclang-rt-14-dev)
      ls /usr/lib/llvm-14/lib/clang/14*/include/fuzzer || ls "$unpacked"/usr/lib/llvm-14/lib/clang/14*/include/fuzzer ;;
    libomp-14-dev) below_usr lib/llvm-14/lib/libomp.so ;;
    dataset-fashion-mnist) find_fashion_mnist ;;
    poppler-utils) command -v pdftotext && command -v pdftoppm ;;
    python3-pip) python3 -m pip --version ;;
    python3-venv) python3 -c "import ensurepip, venv" ;;
    binutils) command -v readelf && command -v strip ;;
    python3-numpy) /usr/bin/python3 -c "import numpy" ;;
    python3-sklearn) /usr/bin/python3 -c "import sklearn" ;;
    python3-sphinx) /usr/bin/python3 -c "import sphinx" ;;
    python3-myst-parser) /usr/bin/python3 -c "import myst_parser" ;;
    python3-breathe) /usr/bin/python3 -c "import breathe" ;;
    furo) /usr/bin/python3 -c "import furo" ;;
    *) command -v "$1" ;;
  esac >/dev/null 2>&1
}

find_fashion_mnist() {
  for folder in /usr "$unpacked/usr"; do
    fashion_mnist=$folder/share/datasets/fashion-mnist
    [ -r "$fashion_mnist/t10k-labels-idx1-ubyte.gz" ] && return
  done
}

list_missing() { # PACKAGES...
  missing=""
  for package; do is_here "$package" || missing="$missing $package"; done
}

install_packages() { # PACKAGES...
  run_as_root=""
  [ "$(id -u)" = 0 ] || run_as_root="sudo -n"
  # shellcheck disable=SC2016,SC2086 # the inner shell expands "$@"; an empty $run_as_root is no word
  $run_as_root env DEBIAN_FRONTEND=noninteractive sh -c '
    dpkg --configure -a  # where an earlier run was interrupted
    apt-get -qq update
    apt-get -qq -y --no-install-recommends install "$@" && exit
    for package; do apt-get -qq -y --no-install-recommends install "$package"; done' sh "$@" </dev/null >&2 || :
}

# Unpacks packages, and all they depend on that is not installed, into $unpacked. With its own lists and cache apt-get
# needs no root. libc6 is left out, since every machine has it, and a second one would do harm.
unpack_packages() { # PACKAGES...
  apt=$unpacked/apt
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" && : > "$unpacked/unfinished" || return
  printf '%s "%s";\n' Debug::NoLocking true Dir::State::Lists "$apt/lists" Dir::Cache "$apt/cache" > "$apt/apt.conf"
  (
    cd "$apt" && export APT_CONFIG="$apt/apt.conf" || exit
    apt-get -qq update
    apt-get --simulate --no-install-recommends install "$@" | sed -n 's/^Inst \([^ ]*\) .*/\1/p' |
      grep -vx libc6 | xargs apt-get -q download || exit
    for deb in ./*.deb; do dpkg -x "$deb" "$unpacked" || exit; done
    rm -f ./*.deb
  ) </dev/null >&2 && repair_unpacked && rm "$unpacked/unfinished"
}

# Repairs links, linker scripts and lists of drivers, which name the places of installed packages.
repair_unpacked() {
  find "$unpacked" -xtype l | while read -r link; do
    target=$(readlink "$link")
    case $target in
      /*) target=$unpacked$target ;;
      *) target=${link%/*}/$target && target=${target#"$unpacked"} ;;
    esac
    if [ -e "$target" ]; then ln -sf "$target" "$link"; fi
  done
  libraries="" headers="" vendors=$unpacked/etc/OpenCL/vendors
  for folder in "$unpacked"/usr/lib/*-linux-gnu "$unpacked"/lib/*-linux-gnu; do
    libraries=${libraries:+$libraries:}$folder
    [ ! -f "$folder/libc.so" ] || sed -i "s# /usr/lib/# $unpacked/usr/lib/#" "$folder/libc.so"
  done
  # The standard library's folders come first, since their #include_next leads to the others.
  for folder in "$unpacked"/usr/include/c++/* "$unpacked"/usr/include/*-linux-gnu/c++/* \
    "$unpacked"/usr/include "$unpacked"/usr/include/*-linux-gnu; do
    [ ! -d "$folder" ] || headers=${headers:+$headers:}$folder
  done
  if [ -d "$vendors" ]; then
    sed -i "s#^/usr/#$unpacked/usr/#" "$vendors"/*.icd
    cp -n /etc/OpenCL/vendors/*.icd "$vendors/" 2>/dev/null || :
  fi
  cat > "$unpacked/environment" <<END
PATH=\$PATH:$unpacked/usr/bin
CPLUS_INCLUDE_PATH=$headers
LIBRARY_PATH=$libraries:$(echo "$unpacked"/usr/lib/gcc/*/* | tr ' ' :)
LD_LIBRARY_PATH=\${LD_LIBRARY_PATH:+\$LD_LIBRARY_PATH:}$libraries
CMAKE_PREFIX_PATH=$unpacked/usr
[ ! -d $vendors ] || OCL_ICD_VENDORS=$vendors
export PATH CPLUS_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH CMAKE_PREFIX_PATH OCL_ICD_VENDORS
END
}

use_unpacked() {
  [ ! -e "$unpacked/unfinished" ] || rm -rf "$unpacked"
  # shellcheck disable=SC1091
  [ ! -e "$unpacked/environment" ] || . "$unpacked/environment"
}

# obtain PACKAGES... gets what is missing of these packages. Afterwards $missing names what could not be got.
obtain() {
  use_unpacked
  list_missing "$@"
  [ -n "$missing" ] || return 0
  say "Missing here:$missing"
  # shellcheck disable=SC2086 # a list of words
  if ! command -v apt-get >/dev/null 2>&1; then
    say "There is no apt-get here to get them with."
  elif [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; then
    say "Installing them with apt-get ..."
    install_packages $missing
  else
    say "Unpacking them into $unpacked (no root here) ..."
    unpack_packages $missing || say "Not all could be unpacked."
    use_unpacked
  fi
  list_missing "$@"
}

# Without NVIDIA's driver nothing that nvcc makes can run here.
has_nvidia_driver() {
  [ -e /proc/driver/nvidia/version ] || command -v nvidia-smi >/dev/null 2>&1
}

# configure PRESET FOLDER OPTIONS...: cmake, quietly unless it fails. KITH_WERROR=ON in the environment makes
# warnings errors.
configure() {
  preset=$1 folder=$2 && shift 2
  if command -v ninja >/dev/null 2>&1 && [ ! -e "$folder/CMakeCache.txt" ]; then set -- -G Ninja "$@"; fi
  if command -v ccache >/dev/null 2>&1; then
    set -- -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache "$@"
    export CCACHE_NOHASHDIR=true  # what two build folders compile alike is compiled once
    export CCACHE_DEPEND=true     # the compiler names the headers, so none are read before it for what is not known yet
  fi
  [ -z "${KITH_WERROR-}" ] || set -- "-DKITH_WERROR=$KITH_WERROR" "$@"
  mkdir -p "$folder"
  (cd "$root" && cmake --preset "$preset" -B "$folder" "$@" > "$folder/configure.log" 2>&1) ||
    { cat "$folder/configure.log" >&2; return 1; }
}
