# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   docs          tools/docs builds the documentation site without a warning, and a planted dead link stops it; no line of
#                 the documents, but for the log of benchmarks, is longer than 400 characters; relative links of the
#                 repository's pages lead to files, which is checked before the site is built

packages_docs="doxygen python3-numpy python3-sphinx python3-myst-parser python3-breathe furo"

# Prints the lines that are too long to read.
long_lines() { # FILES
  /usr/bin/python3 - "$@" << 'END'
import sys
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n"), 1):
            if len(line) > 400:
                print(f"{name}:{number}: a line of {len(line)} characters; break it, or say it in at most 400")
END
}

# The gate must find the planted line, and no other.
docs_without_long_lines() {
  planted=$logs/docs.long.md
  /usr/bin/python3 -c 'print("\u00e9" * 400); print("\u00e9" * 401)' > "$planted" || return
  if [ "$(long_lines "$planted" | cut -d: -f2)" != 2 ]; then
    echo "A line of 401 characters is not noticed, or one of 400 is"
    return 1
  fi
  found=$(find docs README.md -name '*.md' ! -path docs/benchmarks.md -print | sort | while read -r page; do long_lines "$page"; done)
  [ -z "$found" ] || { echo "$found"; return 1; }
}

# Prints relative links to missing files.
dead_links() { # PAGES
  /usr/bin/python3 - "$@" << 'END'
import os, re, sys
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            for target in re.findall(r"\]\(([^)#\s]+)", line):
                if ":" not in target and not os.path.exists(os.path.join(os.path.dirname(name), target)):
                    print(f"{name}:{number}: links to {target}, which is not there; link to a file of the repository")
END
}

# The gate must find the planted link, and no other.
docs_without_dead_links() {
  planted=$logs/docs.links.md
  printf '[a](docs.links.md#part) [b](https://example.org/x)\n[c](none.md#part)\n' > "$planted"
  if [ "$(dead_links "$planted" | cut -d: -f2)" != 2 ]; then
    echo "A link to nothing is not noticed, or one to a file is"
    return 1
  fi
  found=$(find docs ./*.md -name '*.md' -print | sort | while read -r page; do dead_links "$page"; done)
  [ -z "$found" ] || { echo "$found"; return 1; }
}

gate_docs() {
  docs_without_long_lines && docs_without_dead_links || return
  tools/docs || return
  plant=$build/docs/tree/docs/planted.md
  printf -- '---\norphan: true\n---\n\n# Planted\n\n[A page that is not there](not-there.md)\n' > "$plant"
  # Beside a copy of the site that was just built, sphinx reads and writes this page alone.
  rm -rf "$build/docs/planted" "$build/docs/planted-html"
  cp -Rp "$build/docs/doctrees" "$build/docs/planted" && cp -Rp "$build/docs/html" "$build/docs/planted-html" || return
  if /usr/bin/python3 -m sphinx -b html -W -n -q -d "$build/docs/planted" "$build/docs/tree/docs" "$build/docs/planted-html" \
    > "$logs/docs.planted" 2>&1; then
    echo "A link to a page that is not there is not noticed"
    return 1
  fi
  grep -q "not-there.md" "$logs/docs.planted"
}
