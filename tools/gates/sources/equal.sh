# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   equal         counts places of six or more equal lines in the sources; there may be no more than the limit, which only
#                 falls. First the gate must find a planted place
#
# tools/equal_lines.py says what counts.

limit_equal=3

packages_equal="python3"

# A copy of six lines with other spaces, a comment and braces between is one place, and a second copy in the same
# language is another. Five lines are no place, nor are twins among the kernels, nor declarations of overrides.
planted_equal() {
  planted=$logs/equal.planted
  rm -rf "$planted" && mkdir -p "$planted/lib" "$planted/tests" "$planted/kernels_cl/a" "$planted/kernels_cuda/a" || return
  printf 'int a%s = f(%s);\n' 1 1 2 2 3 3 4 4 5 5 6 6 > "$planted/lib/six.cpp"
  sed 's/ = /  =\t/; 3s|$|  // three\n}\n\n// and four\n{|' "$planted/lib/six.cpp" > "$planted/tests/spaced.cpp"
  sed 's/a3/b3/' "$planted/lib/six.cpp" > "$planted/tests/three_differs.cpp"
  sed 's/a/c/' "$planted/lib/six.cpp" | tee "$planted/kernels_cl/a/b.cl" | tee "$planted/kernels_cuda/a/b.cuh" > "$planted/kernels_cuda/a/d.cu"
  printf 'int h%s(int a,\n  int b) const override;\n' 1 2 3 4 5 6 | tee "$planted/lib/overrides.hpp" > "$planted/tests/overrides.hpp"
  python3 tools/equal_lines.py "$planted" > "$planted/found"
  cat > "$planted/expected" <<'END'
kernels_cuda/a/d.cu:1-6 = kernels_cl/a/b.cl:1-6 (6 lines)
tests/spaced.cpp:1-10 = lib/six.cpp:1-6 (6 lines)
2 places of 6 or more equal lines, 12 lines in them
END
  diff "$planted/expected" "$planted/found" && ! python3 tools/equal_lines.py "$planted" --limit 1 > "$planted/above" &&
    ! python3 tools/equal_lines.py "$planted" --limit 3 > "$planted/below"
}

gate_equal() {
  planted_equal || { echo "equal_lines.py did not find just the places that were planted"; return 1; }
  python3 tools/equal_lines.py --limit $limit_equal
}
