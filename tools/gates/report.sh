# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   report        all kinds of reports in Chromium: paper, narrow screens, contrast, names for screen readers, axe-core

packages_report="chromium poppler-utils python3-pip"

# axe-core is a script in a package of PyPI.
gate_report() {
  [ -x "$kith_lab" ] || build_kith || return
  wheel=axe_playwright_python-0.1.8-py3-none-any.whl axe=$logs/axe/axe_playwright_python/axe.min.js
  [ -r "$axe" ] || { python3 -m pip -q download --no-deps --only-binary :all: -d "$logs/axe" axe-playwright-python==0.1.8 &&
    python3 -m zipfile -e "$logs/axe/$wheel" "$logs/axe"; }
  if [ ! -r "$axe" ]; then
    echo "axe-core cannot be had from PyPI"
    [ -z "$ci" ] || return 1
    axe=""
  fi
  python3 tests/report/check.py --kith "$kith" --out "$logs/report" ${axe:+--axe "$axe"}
}
