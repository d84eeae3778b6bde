# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   extensions    clang's preprocessor finds no extension of OpenCL C in kernels_cl, such as a macro with `...`; first a
#                 planted one must be found
#
# NVIDIA's compiler takes no such macro, and all that run here take it without a word. What a condition would leave out is
# read, too: lines that begin with #if, #else, #endif or #error are taken out first.

packages_extensions="clang-15"  # PoCL brings it

find_extensions() { # FILES...
  for file; do
    sed -E '/^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif|error)\b/d' "$file" |
      clang-15 -E -x cl -cl-std=CL1.2 -pedantic-errors -Wno-macro-redefined -I "$root/kernels_cl" -I "$root/lib/include" \
        -o /dev/null - 2>&1 | sed -n "s#^<stdin>:[0-9:]*#$file:#; /error:/p"
  done
}

gate_extensions() {
  printf '#ifdef NEVER\n#define CALL(f, ...) f(__VA_ARGS__)\n#endif\n' > "$logs/extensions.cl"
  [ -n "$(find_extensions "$logs/extensions.cl")" ] || { echo "A planted macro with ... is not noticed"; return 1; }
  # shellcheck disable=SC2046 # names without blanks
  find_extensions $(find "$root/kernels_cl" -name '*.cl') > "$logs/extensions.found"
  [ ! -s "$logs/extensions.found" ] || { cat "$logs/extensions.found"; return 1; }
}
