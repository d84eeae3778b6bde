# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   readme        every block of the README, the tutorial, the pages of the command, of Python and of other libraries, and
#                 the how-to pages runs, and prints what its page says; first planted pages must fail. In the long form
#                 also the README's commands and `pip install` from nothing, on a bare Debian and a bare Ubuntu. Skipped
#                 if PyPI cannot be reached
#
# .ci/run and tests/pages/from_nothing.sh run the README's two commands, tools/quickstart and tools/check.

minimum_blocks=103  # blocks that ran
minimum_outputs=46  # outputs that were compared

packages_readme="ccache python3-venv binutils pkg-config libopenmpi-dev openmpi-bin"

gate_readme() {
  [ -x "$kith_lab" ] || build_kith || return
  python_tests=$root/build/python  # the gate `freethreaded` has one of its own
  make_environment || { skip_without_pypi; return; }
  install_wheel || return
  pages=$logs/readme
  rm -rf "$pages" && cmake --install "$build" --prefix "$pages/kith" > "$logs/readme.install" || return
  set -- --installed "$pages/kith" --python "$environment/bin/python"
  python3 -B tests/pages/run.py "$@" --work "$pages/planted" --planted || return
  python3 -B tests/pages/run.py "$@" --work "$pages/run" README.md docs/tutorial.md docs/command.md docs/python.md docs/coming-from.md docs/howto/*.md > "$logs/readme.run" ||
    { cat "$logs/readme.run"; return 1; }
  cat "$logs/readme.run"
  counted=$(tail -n 1 "$logs/readme.run")
  echo "readme: $counted"
  if [ "${counted%% blocks*}" -lt $minimum_blocks ]; then echo "readme: fewer blocks ran than $minimum_blocks"; return 1; fi
  counted=${counted#*, }
  if [ "${counted%% outputs*}" -lt $minimum_outputs ]; then echo "readme: fewer outputs were compared than $minimum_outputs"; return 1; fi
  if [ -z "$ci" ] || [ -n "$short" ]; then return 0; fi
  obtain mmdebstrap
  tests/pages/from_nothing.sh > "$logs/readme.nothing" || { cat "$logs/readme.nothing"; return 1; }
  sed 's/^/readme: /' "$logs/readme.nothing"
}
