# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   whole         compares each proposer of the CPU and the GPUs with the chain alone, on whole data sets; under --ci
#                 500 queries of each. Fashion-MNIST from Debian or the folder KITH_FASHION_MNIST; letter-recognition.data
#                 of UCI in KITH_LETTER_DATA, kddcup.data_10_percent.gz of the UCI KDD archive in KITH_KDD_DATA

packages_whole="dataset-fashion-mnist"

# Checks one data set, or reports that FILE is missing.
whole_set() { # NAME FILE ARGUMENTS OF VERIFY...
  job=whole.$1 file=$2
  shift 2
  [ -r "$file" ] || { echo "whole: without ${job#*.}: its data${file:+: no $file}"; return; }
  any=yes
  # shellcheck disable=SC2086 # words
  run_job "$job" "$kith" verify --device "$(echo cpu $gpus | tr ' ' ,)" "$@"
  cat "$logs/$job.log"
  judge "${job#*.}" "$(last_line "$job")" "$job"
}

gate_whole() {
  find_gpus || return
  find_fashion_mnist || :
  fashion_mnist=${KITH_FASHION_MNIST:-$fashion_mnist} letter=${KITH_LETTER_DATA:-} kdd=${KITH_KDD_DATA:-} any=""
  whole_set fashion-mnist "$fashion_mnist/train-images-idx3-ubyte.gz" -k 100 \
    --train "$fashion_mnist/train-images-idx3-ubyte.gz" --queries "$fashion_mnist/t10k-images-idx3-ubyte.gz" ${short:+-m 500}
  whole_set letter "$letter" -k 100 --train "$letter" --label-column 1 ${short:+-m 500}
  queries=2000
  [ -z "$short" ] || queries=500
  # The file's own name does not tell that its cells are separated by commas.
  [ ! -r "$kdd" ] || ln -sf "$(realpath "$kdd")" "$marks/kddcup.csv.gz"
  whole_set kdd "$kdd" -k 100 --train "$marks/kddcup.csv.gz" --label-column -1 -m $queries --prepare categories=one-hot --scale min-max
  [ -n "$any" ] || skip "no data"
}
