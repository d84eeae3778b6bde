# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   sklearn       compares answers to classification and regression with scikit-learn's: they are equal, or explained

packages_sklearn="python3-sklearn"

# The gate `answer` checks the known numbers of Fashion-MNIST.
gate_sklearn() {
  [ -x "$kith" ] || build_kith || return
  /usr/bin/python3 -B tests/sklearn/compare.py --kith "$kith"
}
