#!/bin/sh
# test.sh WAY SOURCE BUILD WORK runs one of the package tests. Exits with 77 if a tool is missing.
#
#   install           installs BUILD to WORK/staged, moves all of it to WORK/moved, and checks the links of its pages
#   find_package      builds consumer/ by CMake's package in WORK/moved
#   pkg_config        builds consumer/main.cpp by kith.pc in WORK/moved; its flags must choose no standard of C or C++
#   cxx17             every header in WORK/moved must stop a C++17 compiler by one #error line
#   c_tree            builds the programs of examples/c with a C99 compiler, from BUILD
#   c                 the same from WORK/moved; each C header must also compile alone, in C and in C++11
#   static            configuring kith as a static library must be refused in one sentence
#   add_subdirectory  builds consumer/ with kith's sources in it, in BUILD-subdirectory
#   examples          each program of examples/ must print what its lines `//> ` say, from WORK/moved
#
# The environment gives CMAKE, GENERATOR, CXX, CC (default cc), LAUNCHER, BUILD_TYPE, WERROR, LIBDIR and BINDIR.
set -eu
way=$1 source=$2 build=$3 work=$4
consumer=$source/tests/package/consumer
moved=$work/moved
mkdir -p "$work"

fail() {
  echo "package: $*" >&2
  exit 1
}

# check_documents FOLDER: the documents are installed, and the links between their pages lead to files.
check_documents() {
  for file in README.md CHANGELOG.md LICENSE docs/contract.md examples/search.cpp; do
    [ -e "$1/$file" ] || fail "$file is not installed in $1"
  done
  find "$1" -name '*.md' > "$work/pages.txt"
  while read -r page; do
    grep -o ']([^)#]*' "$page" | cut -c 3- | grep -v '^$\|:' | while read -r target; do
      [ -e "${page%/*}/$target" ] || echo "$page: $target"
    done
  done < "$work/pages.txt" > "$work/dead.txt"
  [ ! -s "$work/dead.txt" ] || fail "pages link to nothing: $(cat "$work/dead.txt")"
}

# check_output PROGRAM: it finds the right neighbours, and the installed plug-ins.
check_output() {
  (cd / && "$1") > "$work/$way.txt" || fail "$1 failed: $(cat "$work/$way.txt")"
  cat "$work/$way.txt"
  head -n 3 "$work/$way.txt" | tr '\n' ';' | grep -qx 'row 0 at 0;row 3 at 1;row 1 at 5;' || fail "wrong neighbours"
  grep -qx 'search: k = 5 is out of range for an index of 4 rows; choose k from 1 to 4' "$work/$way.txt" || fail "no error came through"
  grep -qx 'cpu: there' "$work/$way.txt" || fail "no cpu"
  if grep '^failure: ' "$work/$way.txt"; then fail "a plug-in does not load"; fi
}

# check_plugins: installed plug-ins are found where they were moved to, and others are reported missing.
check_plugins() {
  for backend in opencl cuda; do
    if [ -e "$moved/$LIBDIR/kith/libkith_$backend.so" ]; then
      if grep "^$backend: not installed" "$work/$way.txt"; then fail "$backend is installed but was not found"; fi
    else
      grep -qx "$backend: not installed: there is no libkith_$backend.so in $(cd "$moved" && pwd -P)/$LIBDIR/kith" \
        "$work/$way.txt" || fail "the absence of $backend is not reported"
    fi
  done
}

configure() { # DIRECTORY ARGUMENTS...
  directory=$1 && shift
  rm -rf "$directory"
  "$CMAKE" -G "$GENERATOR" -S "$consumer" -B "$directory" -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_CXX_COMPILER_LAUNCHER="${LAUNCHER-}" "$@"
  "$CMAKE" --build "$directory" --parallel 2
}

# The library exports exactly the C names that the C headers declare, and what kith-ask-driver calls.
check_c_names() {
  { cat "$moved"/include/kith/c/*.h | sed -n 's/^KITH_C_API .*\(kith_[a-z0-9_]*\)(.*/\1/p'; echo kith_ask_driver; } |
    sort > "$work/declared.txt"
  nm -D --defined-only "$library" | sed -n 's/.* \(kith_[A-Za-z0-9_]*\)$/\1/p' | sort > "$work/exported.txt"
  [ "$(wc -l < "$work/exported.txt")" -gt 80 ] || fail "nm shows too few C names: $(cat "$work/exported.txt")"
  diff "$work/declared.txt" "$work/exported.txt" || fail "these C names are declared (<) or exported (>) alone"
}

# c_programs INCLUDE LIBRARIES: builds and runs the C examples, and compares what they print.
c_programs() {
  for program in "$source"/examples/c/*.c; do
    name=$(basename "$program" .c)
    "${CC:-cc}" -std=c99 -pedantic -Wall -Wextra -Werror -I"$1" "$program" -L"$2" -lkith -o "$work/$way-$name" ||
      fail "$program does not compile"
    (cd / && LD_LIBRARY_PATH=$2 "$work/$way-$name") > "$work/$way-$name.txt" || fail "$name fails"
    diff "$source/examples/c/$name.txt" "$work/$way-$name.txt" || fail "$name prints something else"
  done
}

# The names that the library exports, and the libraries that it needs.
check_library() {
  library=$moved/$LIBDIR/libkith.so.0
  [ -e "$library" ] || fail "there is no libkith.so.0"
  if command -v readelf > /dev/null; then
    readelf -d "$library" | grep -q 'SONAME.*\[libkith\.so\.0\]' || fail "the soname is not libkith.so.0"
    if readelf -d "$library" | grep NEEDED | grep -iE 'opencl|cuda'; then fail "libkith.so links to a driver"; fi
    if readelf -d "$library" | grep -E 'RPATH|RUNPATH' | grep "$build"; then fail "libkith.so knows the build tree"; fi
  fi
  if command -v nm > /dev/null; then
    # c++filt shows the return type of the standard library's templates, whose names begin with _ZSt, so leave them out.
    if nm -D --defined-only "$library" | cut -d' ' -f3- | grep -vE '^_Z(NK?)?St' | c++filt |
      grep -vE '^(typeinfo( name)? for |vtable for |VTT for )?(kith::|kith_|std::|KITH_|.*<kith::|.*kith::)'; then
      fail "libkith.so shows names that are not kith's"
    fi
    check_c_names
    for plugin in "$moved/$LIBDIR"/kith/libkith_*.so; do
      [ -e "$plugin" ] || continue
      nm -DC --defined-only "$plugin" | grep -q ' T kith_plugin$' || fail "$plugin exports no kith_plugin"
    done
  fi
}

case $way in
  install)
    rm -rf "$work"
    mkdir -p "$work"
    "$CMAKE" --install "$build" --prefix "$work/staged" > "$work/install.txt" || fail "$(cat "$work/install.txt")"
    mv "$work/staged" "$moved"
    if grep -rlF "$work/staged" "$moved"; then fail "these files hold the path they were installed to"; fi
    check_library
    check_documents "$moved/share/doc/kith"
    if [ -x "$moved/$BINDIR/kith" ]; then
      (cd / && "$moved/$BINDIR/kith" devices) | grep '^cpu' || fail "the installed command does not run"
    fi
    ;;
  find_package)
    configure "$work/find_package" -DCMAKE_PREFIX_PATH="$moved" -DHEADERS="$moved/include/kith"
    check_output "$work/find_package/consumer"
    check_plugins
    ;;
  pkg_config)
    command -v pkg-config > /dev/null || exit 77
    PKG_CONFIG_PATH=$moved/$LIBDIR/pkgconfig
    LD_LIBRARY_PATH=$moved/$LIBDIR
    export PKG_CONFIG_PATH LD_LIBRARY_PATH
    # shellcheck disable=SC2046 # a list of words
    "$CXX" -std=c++20 "$consumer/main.cpp" -o "$work/pkg_config" $(pkg-config --cflags --libs kith)
    case " $(pkg-config --cflags kith)" in *" -std="*) fail "kith.pc sets the standard of who uses it" ;; esac
    check_output "$work/pkg_config"
    check_plugins
    ;;
  cxx17)
    for header in "$moved"/include/kith/*.hpp "$moved"/include/kith/unstable/*.hpp; do
      name=${header#"$moved/include/"}
      case $header in */version.hpp) continue ;; esac  # has macros only
      echo "#include <$name>" > "$work/cxx17.cpp"
      if "$CXX" -std=c++17 -fsyntax-only -I"$moved/include" "$work/cxx17.cpp" 2> "$work/cxx17.txt"; then
        fail "C++17 takes $name"
      fi
      # One error is the #error, the other the missing file that stops the compiler.
      if [ "$(grep -c 'error:' "$work/cxx17.txt")" != 2 ] ||
        [ "$(grep -c 'error: .*kith needs C++20; compile with -std=c++20 or later' "$work/cxx17.txt")" != 1 ]; then
        fail "$name does not stop C++17 by one line: $(cat "$work/cxx17.txt")"
      fi
    done
    ;;
  c_tree)
    command -v "${CC:-cc}" > /dev/null || exit 77
    c_programs "$source/lib/include" "$build/lib"
    ;;
  c)
    command -v "${CC:-cc}" > /dev/null || exit 77
    c_programs "$moved/include" "$moved/$LIBDIR"
    for header in "$moved"/include/kith/kith.h "$moved"/include/kith/c/*.h; do
      echo "#include \"$header\"" > "$work/alone.c"
      "${CC:-cc}" -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$moved/include" "$work/alone.c" ||
        fail "$header does not compile alone"
      "$CXX" -std=c++11 -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$moved/include" -x c++ "$work/alone.c" ||
        fail "$header does not compile in C++11"
    done
    ;;
  static)
    if "$CMAKE" -G "$GENERATOR" -S "$source" -B "$work/static" -DBUILD_SHARED_LIBS=OFF -DCMAKE_CXX_COMPILER="$CXX" > "$work/static.txt" 2>&1; then
      fail "BUILD_SHARED_LIBS=OFF is taken, and ignored"
    fi
    tr -s ' \n' ' ' < "$work/static.txt" | grep -q 'BUILD_SHARED_LIBS is OFF, but kith is a shared library' ||
      fail "the refusal of BUILD_SHARED_LIBS=OFF does not say why: $(cat "$work/static.txt")"
    ;;
  add_subdirectory)
    # With ccache, use the options and the depth of kith's own build, whose objects ccache then finds (it knows them by
    # relative paths). Else choose what compiles fastest.
    set -- -DCMAKE_BUILD_TYPE=Debug
    [ -z "${LAUNCHER-}" ] || set -- -DCMAKE_BUILD_TYPE="$BUILD_TYPE" -DKITH_WERROR="$WERROR"
    work=$build-subdirectory
    configure "$work" -DKITH_SOURCE="$source" "$@"
    check_output "$work/consumer"
    [ ! -e "$work/bin/kith" ] || fail "a part of another project builds the command, too"
    for backend in opencl cuda; do  # nobody asked for these
      if find "$work" -name "libkith_$backend.so" | grep .; then fail "a part of another project builds $backend, too"; fi
    done
    if grep -E '^(KITH_NVCC|CMAKE_CUDA_COMPILER|KITH_OPENCL_LIBRARY)' "$work/CMakeCache.txt"; then
      fail "a part of another project looks for drivers"
    fi
    ;;
  examples)
    rm -rf "$work/examples"
    "$CMAKE" -G "$GENERATOR" -S "$source/examples" -B "$work/examples" -DCMAKE_PREFIX_PATH="$moved" -DCMAKE_CXX_COMPILER="$CXX" \
      -DCMAKE_CXX_COMPILER_LAUNCHER="${LAUNCHER-}" -DCMAKE_CXX_FLAGS="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"
    "$CMAKE" --build "$work/examples" --parallel 2
    for program in "$source"/examples/*.cpp; do
      name=$(basename "$program" .cpp)
      sed -n 's|^//> ||p' "$program" > "$work/$name.right"
      [ -s "$work/$name.right" ] || fail "$name.cpp does not say what it prints"
      (cd / && "$work/examples/$name") > "$work/$name.out" || fail "$name fails"
      diff "$work/$name.right" "$work/$name.out" || fail "$name prints something else"
    done
    ;;
  *) fail "unknown way $way" ;;
esac
