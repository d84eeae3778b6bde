# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   proposed      GPU: 200,000 random searches by the proposers of each back end give the bits of its chain alone, and those
#                 the bits of the CPU; under --ci one in a hundred. KITH_WORKERS: threads on each, default 4

packages_proposed=""

gate_proposed() { random_cases_of_gpus 200000 --proposed --workers "${KITH_WORKERS:-4}"; }
