# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   format        clang-format would change nothing

packages_format="clang-format-14"

gate_format() {
  find lib backends kernels_cl kernels_cuda tools tests examples python -name '*.[ch]pp' -o -name '*.[ch]' -o -name '*.cu' \
    -o -name '*.cuh' -o -name '*.cl' > "$logs/format.files"
  xargs clang-format-14 --dry-run -Werror --ferror-limit=1 < "$logs/format.files" && return
  echo "Mend it: xargs clang-format-14 -i < $logs/format.files"
  return 1
}
