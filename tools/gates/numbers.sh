# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   numbers       measured numbers and charts on README.md, docs/results.md and the how-to pages equal those of the newest
#                 result files in docs/measured; first tools/figures must notice planted ones that do not

packages_numbers="python3"

# Copies the pages and files, so that a number can be planted.
copy_pages() {
  rm -rf "$planted"
  mkdir -p "$planted/docs"
  cp README.md "$planted" && cp -R docs/measured docs/charts docs/howto docs/index.md docs/results.md "$planted/docs"
}

check_planted() { tools/figures --check --root "$planted" --measured "$planted/docs/measured" > "$planted/found"; }

# Checks that tools/figures reported it once.
says() { # WHAT PATTERN
  [ "$(grep -c "$2" "$planted/found")" = 1 ] || { echo "Not noticed: $1:"; cat "$planted/found"; return 1; }
}

planted_numbers() {
  copy_pages
  page=$planted/docs/howto/memory.md
  sed -i 's/\(<!-- = measured [^>]*-->\)/\19/' "$planted/docs/howto/billion.md"
  cat > "$planted/docs/measured/9999-12-31-nvidia-h200.json" << 'END'
{"date": "9999-12-31", "device": "NVIDIA H200", "commit": "planted", "command": "planted", "results":
 [{"workload": "sift_k10", "n": 1, "dims": 1, "m": 1, "k": 1, "element": "f32", "ways": {"cuda": {"ms": 123456}}}]}
END
  # shellcheck disable=SC2016 # backquotes of Markdown
  printf '\nIt takes 1.25 ms by `--seconds 4 s`, and is 3x as fast: 2 x 10^8 rows.\n' >> "$page"
  printf '\nIn <!-- = figure of-no-file -->1 s<!-- end -->\n' >> "$planted/docs/howto/mpi.md"
  printf '\n<!-- = figure disk -->1 s<!-- end -->\n' >> "$planted/docs/howto/filters.md"
  if check_planted; then echo "No planted number is noticed"; return 1; fi
  says "a number that its file does not have" '^docs/howto/billion.md:[0-9]*: the files have: .*; run tools/figures$' &&
    says "a number older than a later file" '^docs/results.md:.*123,456' &&
    says "a time outside of marks" '^docs/howto/memory.md:[0-9]*: "1.25 ms" stands outside of marks$' &&
    says "a factor outside of marks" '^docs/howto/memory.md:[0-9]*: "3x" stands outside of marks$' &&
    says "a mark of which no file knows" '^docs/howto/mpi.md: no file has the figure of-no-file$' &&
    says "a mark that splits a paragraph" '^docs/howto/filters.md: the mark "figure disk" begins a line' || return
  [ "$(grep -c '^docs/howto/memory.md' "$planted/found")" = 2 ] || { echo "Code and products are no figures"; return 1; }

  copy_pages
  sed -i 's/"commit"/"commits"/' "$planted/docs/measured/"*-xeon.json
  if check_planted; then echo "A result file without a commit is not noticed"; return 1; fi
  says "a result file without a commit" 'says no commit$'
}

gate_numbers() {
  planted=$logs/numbers
  planted_numbers && tools/figures --check
}
