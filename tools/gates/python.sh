# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   python        the Python package: mypy --strict; a wheel packed from the build that is there, installed into a virtual
#                 environment, its tests where no compiler and no source is; under --ci without the slow ones. Skipped
#                 where PyPI cannot be reached

minimum_python_tests=740  # that passed, under --ci

packages_python="python3-venv binutils"

python_tests=$root/build/python  # the virtual environment, the wheel, and a copy of the tests

# Made anew where the list of packages has changed.
make_environment() {
  environment=$python_tests/environment
  cmp -s python/tests/requirements.txt "$environment/requirements.txt" && return
  rm -rf "$environment" && mkdir -p "$python_tests" && python3 -m venv "$environment" &&
    "$environment/bin/python" -m pip install --quiet --requirement python/tests/requirements.txt > "$logs/python.pip" 2>&1 &&
    cp python/tests/requirements.txt "$environment/"
}

# The tag that pack_wheel.py chose is what auditwheel finds, too.
check_tag() {
  wheel=$(echo "$python_tests"/dist/*.whl) && tag=${wheel##*-none-} && tag=${tag%.whl}
  "$environment/bin/auditwheel" show "$wheel" | tr -s ' \n' ' ' | tee "$logs/python.auditwheel" | grep -q "platform tag to \"$tag\"" ||
    { echo "python: the wheel is tagged $tag, but: $(cat "$logs/python.auditwheel")"; return 1; }
}

install_wheel() {
  rm -rf "$python_tests/dist" "$python_tests/tests"
  python3 python/pack_wheel.py --build "$build" --out "$python_tests/dist" && check_tag &&
    "$environment/bin/python" -m pip install --quiet --force-reinstall --no-deps "$python_tests"/dist/*.whl &&
    mkdir -p "$python_tests/tests/docs" && cp -r python/tests "$python_tests/tests/python" &&
    cp -r python/examples python/write_reference.py "$python_tests/tests/python/" &&
    mkdir -p "$python_tests/tests/docs/charts" "$python_tests/tests/tools/lab" &&
    cp -r tools/lab/scale tools/lab/chart_style.py "$python_tests/tests/tools/lab/" && cp docs/charts/scale.svg "$python_tests/tests/docs/charts/" &&
    cp docs/python.md docs/python-reference.md "$python_tests/tests/docs/" && cp README.md "$python_tests/tests/"
}

# By a search path with nothing but the environment: no compiler, and no Python sources but those of the wheel.
run_python_tests() { # DEVICE ARGUMENTS...
  device=$1 && shift
  (cd "$python_tests/tests" && env -i HOME="$HOME" PATH="$environment/bin" KITH_SOURCE="$python_tests/tests" \
    KITH_TUNING=off KITH_TEST_DEVICE="$device" python -m pytest -q -p no:cacheprovider python "$@")
}

gate_python() {
  [ -e "$build/lib/libkith.so.0" ] || build_kith || return
  make_environment || {
    echo "python: skipped: pip cannot get python/tests/requirements.txt: $(tail -n 1 "$logs/python.pip")"
    [ -z "$ci" ] || return 1
    skipped=$((skipped + 1)) passed=$((passed - 1))
    return 0
  }
  "$environment/bin/mypy" --cache-dir "$python_tests/mypy" --python-executable "$environment/bin/python" || return
  install_wheel || return
  PYTHONPATH=$root/python KITH_LIBRARY=$build/lib/libkith.so.0 \
    "$environment/bin/python" -B -m pytest -q -p no:cacheprovider python/tests/test_header.py || return
  set --
  [ -z "$short" ] || set -- -m "not slow"
  run_python_tests cpu "$@" > "$logs/python.tests" 2>&1 || { cat "$logs/python.tests"; return 1; }
  cat "$logs/python.tests"
  ran=$(sed -n 's/.*[^0-9]*\b\([0-9][0-9]*\) passed.*/\1/p' "$logs/python.tests" | tail -n 1)
  echo "python: $(tail -n 1 "$logs/python.tests")"
  if [ -e "$build/lib/kith/libkith_opencl.so" ]; then
    run_python_tests opencl:pocl -k "index or faiss or answers" || return
  fi
  [ "${ran:-0}" -ge $minimum_python_tests ] || { echo "python: fewer tests passed than $minimum_python_tests"; return 1; }
}
