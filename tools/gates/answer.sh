# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   answer        Fashion-MNIST on CPU and PoCL gives the known answer, and `kith compare` the same bits in every stage

packages_answer="dataset-fashion-mnist"

gate_answer() {
  [ -x "$kith" ] || build_kith || return
  find_fashion_mnist || return
  for spec in cpu opencl:pocl; do
    "$kith" classify --device $spec -k 5 --expect 8554 \
      --train "$fashion_mnist/train-images-idx3-ubyte.gz" --labels "$fashion_mnist/train-labels-idx1-ubyte.gz" \
      --queries "$fashion_mnist/t10k-images-idx3-ubyte.gz" --truth "$fashion_mnist/t10k-labels-idx1-ubyte.gz" ||
      return
  done
  "$kith" compare --device cpu,opencl:pocl
}
