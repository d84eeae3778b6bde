# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   sklearn       answers to classification and regression beside scikit-learn's: equal, or explained

packages_sklearn="python3-sklearn"

# The known figures of Fashion-MNIST are the gate `answer`.
gate_sklearn() {
  [ -x "$kith" ] || build_kith || return
  /usr/bin/python3 -B tests/sklearn/compare.py --kith "$kith"
}
