# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   twins         both GPU back ends: compares searches by fp16 with each other. CUDA and OpenCL use the same instructions of
#                 tensor cores, and the contract demands the same bits

packages_twins=""

gate_twins() {
  find_gpus || return
  for spec in cuda:0 opencl:nvidia; do
    has_device $spec || { skip "no $spec: $(tail -n 1 "$logs/probe.$gate")"; return; }
  done
  set --
  while read -r shape; do
    set -- "$@" "twins.$(($# + 1))"
    # shellcheck disable=SC2086 # words
    run_job "twins.$#" "$kith" compare --stage search --device opencl:nvidia --reference cuda:0 --how proposer=fp16 \
      --data all $shape
  done <<END_OF_SHAPES
-n 200000 -m 500 --dims 128 -k 10
-n 200000 -m 8 --dims 96 -k 100
-n 50000 -m 300 --dims 17 -k 32 --metric cosine
END_OF_SHAPES
  judge "fp16" "$(cat "$logs"/twins.[0-9].log | grep -ac '^search ') searches: OpenCL's bits are CUDA's" "$@"
}
