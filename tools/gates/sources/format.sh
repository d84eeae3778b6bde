# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   format        clang-format would change nothing, and no line of a comment is broken or too long; first planted
#                 ones must be found
#
# clang-format leaves comments alone, since it breaks lists and tables in them: tools/comment_lines.py checks them.

packages_format="clang-format-14 python3"

# In each language the third line of a block is one word. fine.cpp has no fault.
planted_comments() {
  planted=$logs/format.planted
  rm -rf "$planted" && mkdir -p "$planted/lib" "$planted/cmake" || return
  for name in lib/a.cl lib/a.cpp lib/a.cuh lib/a.h; do printf '// One\n//   two three\n//   for\n//         all\n' > "$planted/$name"; done
  for name in lib/a.py lib/a.sh cmake/CMakeLists.txt; do printf '# One two\n# three four\n# for\n# all\n' > "$planted/$name"; done
  printf 'int a;  // One two\n        // three\n        // for four\n' > "$planted/lib/beside.cpp"
  printf '/// %0106d\n// %0108d\n' 1 2 > "$planted/lib/long.cpp"
  printf '// One two\n// three.\n\n// One\n//\n// two\n// free(one);\n// two\nint a;  // one\n// two\n// three four\n' > "$planted/lib/fine.cpp"
  python3 -B tools/comment_lines.py "$planted" > "$planted.found"
  cat > "$planted.expected" << 'END'
lib/a.cl:3: "for" stands alone amid a comment
lib/a.cpp:3: "for" stands alone amid a comment
lib/a.cuh:3: "for" stands alone amid a comment
lib/a.h:3: "for" stands alone amid a comment
lib/a.py:3: "for" stands alone amid a comment
lib/a.sh:3: "for" stands alone amid a comment
lib/beside.cpp:2: "three" stands alone amid a comment
lib/long.cpp:2: a comment ends at column 111, not 110
cmake/CMakeLists.txt:3: "for" stands alone amid a comment
9 lines of comments to mend
END
  diff "$planted.expected" "$planted.found"
}

gate_format() {
  planted_comments || { echo "comment_lines.py did not find just the lines that were planted"; return 1; }
  python3 -B tools/comment_lines.py || return
  find lib backends kernels_cl kernels_cuda tools tests examples python -name '*.[ch]pp' -o -name '*.[ch]' -o -name '*.cu' \
    -o -name '*.cuh' -o -name '*.cl' > "$logs/format.files"
  xargs clang-format-14 --dry-run -Werror --ferror-limit=1 < "$logs/format.files" && return
  echo "Mend it: xargs clang-format-14 -i < $logs/format.files"
  return 1
}
