// rerank, for exact products: computes the values of chains from products: 2 (low + half_norm) for squared
// distances, `low` for inner products. The twin of kernels_cuda/rerank/rerank_products.cu.
//
//   low         [q, capacity]   the value that collect compared with the threshold, stride in elements
//   half_norms  [q]             of the queries, stride in elements
//   candidates  [q, capacity]   training rows, stride in elements; `counts` says how many each list has
//   counts      [q]             may exceed the capacity, stride in elements
//   out         [q, capacity]   the key of each candidate, stride in elements
//
// HALVES   1 for squared distances, which contain half the squared norm; 0 for inner products
//
// Work-groups (0, q) ... (groups - 1, q) of GROUP items share query q; each item handles one candidate. No
// barrier, no local memory. Work: 16 bytes per candidate. Source: docs/certificate.md, section 4.
#include "common/common.cl"

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_rerank_products(
    global const float* restrict low, Place low_at, global const float* restrict half_norms,
    Place half_norms_at, global const uint* restrict candidates, Place candidates_at, uint capacity,
    global const uint* restrict counts, Place counts_at, global Key* restrict out, Place out_at) {
  const uint q = (uint)get_group_id(1);
  const uint many = min(capacity, counts[counts_at.first + q * counts_at.stride]);
  const float half_norm = HALVES ? half_norms[half_norms_at.first + q * half_norms_at.stride] : 0.0f;
  low += low_at.first + q * low_at.stride;
  candidates += candidates_at.first + q * candidates_at.stride;
  out += out_at.first + q * out_at.stride;
  for (ulong j = get_global_id(0); j < many; j += get_global_size(0))
    out[j] = make_key(HALVES ? 2.0f * (low[j] + half_norm) : low[j], candidates[j]);
}
