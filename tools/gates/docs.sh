# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   docs          tools/docs builds the documentation site without a warning, and a planted link to nothing stops it

packages_docs="doxygen python3-sphinx python3-myst-parser python3-breathe furo"

gate_docs() {
  [ -x "$kith" ] || build_kith || return
  tools/docs || return
  plant=$build/docs/tree/docs/planted.md
  printf -- '---\norphan: true\n---\n\n# Planted\n\n[A page that is not there](not-there.md)\n' > "$plant"
  if /usr/bin/python3 -m sphinx -b html -W -q -d "$build/docs/planted" "$build/docs/tree/docs" "$build/docs/planted-html" \
    > "$logs/docs.planted" 2>&1; then
    echo "A link to a page that is not there is not noticed"
    return 1
  fi
  grep -q "not-there.md" "$logs/docs.planted"
}
