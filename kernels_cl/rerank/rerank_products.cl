// rerank, where exact products say what chains are: squared distances 2 (low + half_norm), inner products
// `low`. The twin of kernels_cuda/rerank/rerank_products.cu.
//
//   low         [q, capacity]   what collect compared with the threshold, stride in elements
//   half_norms  [q]             of the queries, stride in elements
//   candidates  [q, capacity]   training rows, stride in elements; the first `counts` of each list
//   counts      [q]             may exceed the capacity, stride in elements
//   out         [q, capacity]   the key of each candidate, stride in elements
//
// HALVES   1 where half the squared norm counts, 0 for inner products
//
// Work-groups (0, q) ... (groups - 1, q) of GROUP items share query q; an item takes a candidate. No barrier,
// no local memory. Work: 16 bytes a candidate. Source: docs/certificate.md, section 4.
#include "common/common.cl"

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_rerank_products(
    global const float* restrict low, ulong low_first, ulong low_stride,
    global const float* restrict half_norms, ulong half_norms_first, ulong half_norms_stride,
    global const uint* restrict candidates, ulong candidates_first, ulong candidates_stride, uint capacity,
    global const uint* restrict counts, ulong counts_first, ulong counts_stride, global Key* restrict out,
    ulong out_first, ulong out_stride) {
  const uint q = (uint)get_group_id(1);
  const uint many = min(capacity, counts[counts_first + q * counts_stride]);
  const float half_norm = HALVES ? half_norms[half_norms_first + q * half_norms_stride] : 0.0f;
  low += low_first + q * low_stride;
  candidates += candidates_first + q * candidates_stride;
  out += out_first + q * out_stride;
  for (ulong j = get_global_id(0); j < many; j += get_global_size(0))
    out[j] = make_key(HALVES ? 2.0f * (low[j] + half_norm) : low[j], candidates[j]);
}
