# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   boxes         GPU: 200,000 random searches by boxes on each back end give the bits of the CPU; under --ci one in a
#                 hundred

packages_boxes=""

gate_boxes() { random_cases_of_gpus 200000 --how boxes=yes; }
