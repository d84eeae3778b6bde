# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   differential  GPU: 20,000 random searches on each back end give the bits of the CPU; under --ci one in a hundred

packages_differential=""

gate_differential() { random_cases_of_gpus 20000; }
