// nearest, for CPU devices: computes distances and selects in one step. Distances are not written.
//
//   queries [q, dims]   blocks of QUERY_BLOCK rows     train [t, dims]   blocks of 16 rows
//   out     [q, lists * k]   keys, ascending in each list, padded with NO_KEY
//
// Work-item (g, s) finds the k nearest rows of list g for the `passes` passes of PASS queries of span s. It
// takes `chunk` blocks of training rows at a time, which stay in the second-level cache while all its queries
// read them. A row enters a list only if it is nearer than the list's last.
// Work: q * t * dims multiply-adds; if rows are in random order, k (1 + ln(t / (lists k))) insertions per
// list. Source of the selection: Garcia, Debreuve, Barlaud 2008 (one sorted list per query).
// No twin in kernels_cuda: CUDA has no CPU devices.
#include "common/lanes.cl"
#include "common/list.cl"

// Offers the lanes of `acc` to the list of one query; returns the new bound.
Key offer_lanes(float16 acc, Key bound, global Key* list, uint k, uint r0, uint begin, uint end, uint shift) {
  float lane[TRAIN_BLOCK];
  vstore16(acc, 0, lane);
  for (uint j = 0; j < TRAIN_BLOCK; ++j) {
    if (r0 + j < begin || r0 + j >= end) continue;  // padding, or a row of another list
    const Key key = make_key(lane[j], r0 + j + shift);
    if (key >= bound) continue;
    list_take(list, k, key);
    bound = list_bound(list, k);
  }
  return bound;
}

kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kith_nearest_lanes(
    global const float* restrict queries, global const float* restrict train, const Sides sides,
    uint first_row, uint k, uint lists, uint passes, uint chunk, global Key* restrict out, Place out_at) {
  const uint q_first = sides.q_first, q_rows = sides.q_rows, t_first = sides.t_first, t_rows = sides.t_rows,
             dims = sides.dims;
  const uint g = (uint)get_global_id(0);
  const uint p0 = q_first / PASS + (uint)get_global_id(1) * passes;
  const uint p1 = min(p0 + passes, (q_first + q_rows - 1) / PASS + 1);
  const uint begin = t_first + first_column(g, t_rows, lists);
  const uint end = t_first + first_column(g + 1, t_rows, lists);
  const uint shift = first_row - t_first;  // wraps around, and back when it is added
  out += out_at.first + (ulong)g * k;

  const uint q_begin = max(p0 * PASS, q_first), q_end = min(p1 * PASS, q_first + q_rows);
  for (uint q = q_begin; q < q_end; ++q) list_start(out + (q - q_first) * out_at.stride, k);
  if (begin == end) return;

  const uint last = (end - 1) / TRAIN_BLOCK;
  for (uint b0 = begin / TRAIN_BLOCK; b0 <= last; b0 += chunk) {
    const uint b1 = min(b0 + chunk, last + 1);
    for (uint p = p0; p < p1; ++p) {
      global const float* query = query_at(queries, p * PASS, dims);
      Key bound[PASS];
      float value[PASS];  // value of the bound; below every value if the query is outside the tile
      for (uint i = 0; i < PASS; ++i) {
        const uint q = p * PASS + i;
        const bool inside = q >= q_first && q < q_first + q_rows;
        bound[i] = inside ? list_bound(out + (q - q_first) * out_at.stride, k) : 0;
        value[i] = inside ? value_of(bound[i]) : NAN;
      }
      for (uint b = b0; b < b1; ++b) {
        float16 acc[PASS];
        chains(query, block_at(train, b, dims), dims, acc);
        int16 near = 0;
        for (uint i = 0; i < PASS; ++i) near |= acc[i] <= (float16)(value[i]);
        if (!any(near)) continue;
        for (uint i = 0; i < PASS; ++i) {
          if (!any(acc[i] <= (float16)(value[i]))) continue;
          const ulong at = (ulong)(p * PASS + i - q_first) * out_at.stride;
          bound[i] = offer_lanes(acc[i], bound[i], out + at, k, b * TRAIN_BLOCK, begin, end, shift);
          value[i] = value_of(bound[i]);
        }
      }
    }
  }
  for (uint q = q_begin; q < q_end; ++q) list_finish(out + (q - q_first) * out_at.stride, k);
}
