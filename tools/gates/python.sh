# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   python        the Python package: mypy --strict; a wheel packed from the existing build and installed into a virtual
#                 environment, tested without compiler and sources; under --ci without the slow tests. Skipped if PyPI
#                 cannot be reached. With --devices the package's sources with the machine's Python, on each device

minimum_python_tests=1800  # tests that passed, under --ci

packages_python="python3-venv binutils"

python_tests=$root/build/python  # the virtual environment, the wheel, and a copy of the tests

# The environment is made again when the list of packages changes.
make_environment() {
  environment=$python_tests/environment
  cmp -s python/tests/requirements.txt "$environment/requirements.txt" && return
  rm -rf "$environment" && mkdir -p "$python_tests" && python3 -m venv "$environment" &&
    "$environment/bin/python" -m pip install --quiet --requirement python/tests/requirements.txt > "$logs/python.pip" 2>&1 &&
    cp python/tests/requirements.txt "$environment/"
}

# auditwheel must find the tag that pack_wheel.py chose.
check_tag() {
  wheel=$(echo "$python_tests"/dist/*.whl) && tag=${wheel##*-none-} && tag=${tag%.whl}
  "$environment/bin/auditwheel" show "$wheel" | tr -s ' \n' ' ' | tee "$logs/python.auditwheel" | grep -q "platform tag to \"$tag\"" ||
    { echo "python: the wheel is tagged $tag, but: $(cat "$logs/python.auditwheel")"; return 1; }
}

install_wheel() {
  rm -rf "$python_tests/dist" "$python_tests/tests"
  python3 python/pack_wheel.py --build "$build" --out "$python_tests/dist" && check_tag &&
    "$environment/bin/python" -m pip install --quiet --force-reinstall --no-deps "$python_tests"/dist/*.whl &&
    mkdir -p "$python_tests/tests" && cp -r python/tests "$python_tests/tests/python" &&
    cp -r python/examples "$python_tests/tests/python/" &&
    mkdir -p "$python_tests/tests/tools/lab" && cp -r tools/lab/scale "$python_tests/tests/tools/lab/"
}

# The search path has nothing but the environment: no compiler, and no Python sources but those of the wheel.
run_python_tests() { # DEVICE ARGUMENTS...
  device=$1 && shift
  (cd "$python_tests/tests" && env -i HOME="$HOME" PATH="$environment/bin" ${OCL_ICD_VENDORS:+OCL_ICD_VENDORS="$OCL_ICD_VENDORS"} KITH_SOURCE="$python_tests/tests" \
    KITH_TUNING=off KITH_TEST_DEVICE="$device" python -m pytest -q -p no:cacheprovider -n 2 --dist worksteal python "$@")
}

# Returns whether the package's sources can be tested with the machine's Python; the folder KITH_PYTEST may
# contain pytest.
can_test_sources() {
  path=$root/python${KITH_PYTEST:+:$KITH_PYTEST}
  PYTHONPATH=$path python3 -c "import numpy, pytest" > "$logs/probe" 2>&1 || { why=$(tail -n 1 "$logs/probe"); return 1; }
}

test_sources() { # JOB DEVICE ARGUMENTS OF PYTEST...
  job=$1 device=$2
  shift 2
  run_job "$job" env "PYTHONPATH=$path" "KITH_LIBRARY=$build/lib/libkith.so.0" "KITH_TEST_DEVICE=$device" \
    python3 -B -m pytest -q -rs -p no:cacheprovider "$@" "$root/python/tests"
  grep -a '^SKIPPED' "$logs/$job.log"
  judge "$device" "$(last_line "$job")" "$job"
}

# Tests that concern the device run on each device; all others, such as those of processes and GPU arrays, run once.
python_on_devices() {
  can_test_sources || { skip "$why"; return; }
  test_sources python.cpu cpu
  for spec in opencl:pocl $gpus; do
    has_device "$spec" || continue
    test_sources "python.$(in_file_name "$spec")" "$spec" -k "index or faiss or answers"
  done
}

skip_without_pypi() { # fails under --ci
  skip "pip cannot get python/tests/requirements.txt: $(tail -n 1 "$logs/python.pip")" "$ci"
}

gate_python() {
  [ -e "$build/lib/libkith.so.0" ] || build_kith || return
  find_gpus || return
  [ -z "$devices" ] || { python_on_devices; return; }
  make_environment || { skip_without_pypi; return; }
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
  [ ! -e "$build/lib/kith/libkith_opencl.so" ] || gpus="opencl:pocl $gpus"
  for spec in $gpus; do run_python_tests "$spec" -k "index or faiss or answers" || return; done
  [ "${ran:-0}" -ge $minimum_python_tests ] || { echo "python: fewer tests passed than $minimum_python_tests"; return 1; }
}
