# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   proposed      GPU: 200,000 random searches by the proposers of each back end, with the bits of its chain alone, and that
#                 with the CPU's; under --ci one in a hundred. KITH_WORKERS: threads on each, 4

packages_proposed=""

gate_proposed() { random_cases_of_gpus 200000 --proposed --workers "${KITH_WORKERS:-4}"; }
