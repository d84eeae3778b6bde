// tighten by a sample, for many queries: computes the threshold from the k-th smallest bound of rows
// that are no candidates. Only devices with tensor cores take samples. The twin of tighten_by_samples
// in kernels_cuda/bound/tighten_bounds.cu.
//
//   sample     [q, groups]  codes, in any order, stride in elements
//   row_terms  [4, q]       with -D HALVES: of the quantized queries, stride in elements
//   threshold  [q]          in and out: it never grows; with groups < k it does not change
//
// Compiled with -D EACH=n, the number of codes per work-item, at least groups / 32. One warp handles one
// query and keeps its codes in registers. It finds the k-th code bit by bit, from the highest bit in which
// any two codes differ, by counting the codes below a number; if exactly k are below, the largest of these is
// the k-th.
// Work: up to 32 comparisons per code. No local memory. Source: selection by the digits of the keys.
// No twin in kernels_cuda: tighten_bounds.cu has the kernel.
#include "bound/threshold.cl"
#include "common/tensor.cl"
#include "common/warp.cl"

#define GROUP 128
#define NOTHING 0xFFFFFFFFu
#define INFINITE 0xFF800000u  // ordered(INFINITY)

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_tighten_sample(
    global const uint* restrict sample, Place sample_at, uint groups, uint q_rows, uint k, uint dims,
    global const float* restrict row_terms, Place row_terms_at, global float* restrict threshold,
    Place threshold_at) {
  const uint q = (uint)get_global_id(0) / 32, lane = (uint)get_local_id(0) % 32;
  if (q >= q_rows || groups < k) return;
  sample += sample_at.first + q * sample_at.stride;
  uint code[EACH], least = NOTHING, most = 0;
#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    const uint at = i * 32 + lane;
    code[i] = NOTHING;
    if (at >= groups) continue;
    code[i] = min(sample[at], INFINITE);
    least = min(least, code[i]);
    most = max(most, code[i]);
  }
  least = least_of_warp(least);
  most = most_of_warp(most);
  uint bit = least == most ? 0 : 0x80000000u >> clz(least ^ most);
  uint found = least == most ? least : least & ~(2 * bit - 1);
  for (; bit != 0; bit /= 2) {
    const uint limit = found | bit;
    uint below[4] = {0, 0, 0, 0};  // four counters, so that additions do not wait for each other
#pragma unroll
    for (uint i = 0; i < EACH; ++i) below[i % 4] += code[i] < limit ? 1 : 0;
    const uint count = sum_of_warp((below[0] + below[1]) + (below[2] + below[3]));
    if (count < k) found = limit;
    if (count != k) continue;
    uint largest = 0;
#pragma unroll
    for (uint i = 0; i < EACH; ++i) largest = max(largest, code[i] < limit ? code[i] : 0);
    found = most_of_warp(largest);
    break;
  }
  if (lane != 0) return;
  threshold += threshold_at.first + q * threshold_at.stride;
  *threshold = threshold_by_bound(*threshold, value_of((Key)found << 32), dims,
                                  row_terms + row_terms_at.first + q, row_terms_at.stride);
}
