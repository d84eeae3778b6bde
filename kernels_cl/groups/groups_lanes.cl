// groups, for CPU devices: finds the k nearest rows of each query in its group.
//
//   queries [q, dims]   blocks of QUERY_BLOCK rows     train [t, dims]   blocks of 16 rows
//   query_borders, row_borders [groups + 1]
//   out [q, k]   keys, ascending, padded with NO_KEY
//
// A work-item takes the PASS queries of a pass, and the blocks of rows that any of them asks. Lists are in
// global memory. A row enters a list only if it is of the query's group and nearer than the list's last.
// Work: q t' dims multiply-adds for groups of t' rows. Source: see nearest_lanes.cl.
// No twin in kernels_cuda: CUDA has no CPU devices.
#include "common/lanes.cl"
#include "common/list.cl"
#include "groups/group_of.cl"

// Offers the lanes of `acc` to the list of one query; returns the new bound.
Key offer_group_lanes(float16 acc, Key bound, global Key* list, uint k, uint r0, const Range* range) {
  float lane[TRAIN_BLOCK];
  vstore16(acc, 0, lane);
  for (uint j = 0; j < TRAIN_BLOCK; ++j) {
    const uint r = r0 + j;
    if (r < range->begin || r >= range->end || r == range->own) continue;
    const Key key = make_key(lane[j], r + range->shift);
    if (key >= bound) continue;
    list_take(list, k, key);
    bound = list_bound(list, k);
  }
  return bound;
}

kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kith_groups_lanes(
    global const float* restrict queries, global const float* restrict train, const Sides sides,
    global const uint* restrict query_borders, Place query_borders_at,
    global const uint* restrict row_borders, Place row_borders_at, const Shape shape,
    global Key* restrict out, Place out_at) {
  const uint dims = sides.dims, k = shape.k;
  const uint p = sides.q_first / PASS + (uint)get_global_id(0);
  Range range[PASS];
  Key bound[PASS];
  float value[PASS];  // value of the bound; below every value if the pass has no such query
  out += out_at.first;
  for (uint i = 0; i < PASS; ++i) {
    const uint at = p * PASS + i;
    const bool inside = at >= sides.q_first && at < sides.q_first + sides.q_rows;
    value[i] = inside ? INFINITY : NAN;
    bound[i] = inside ? NO_KEY : 0;
    range[i].begin = range[i].end = 0;
    if (!inside) continue;
    const uint q = at - sides.q_first;
    range[i] = range_of(q, sides.t_first, shape, query_borders + query_borders_at.first,
                        row_borders + row_borders_at.first);
    list_start(out + q * out_at.stride, k);
  }
  uint b = 0;
  for (uint next = 0; next < PASS;) {
    if (range[next].end <= b * TRAIN_BLOCK || range[next].begin == range[next].end) {
      ++next;
      continue;
    }
    b = max(b, range[next].begin / TRAIN_BLOCK);
    float16 acc[PASS];
    chains(query_at(queries, p * PASS, dims), block_at(train, b, dims), dims, acc);
    for (uint i = 0; i < PASS; ++i) {
      if (!any(acc[i] <= (float16)(value[i]))) continue;
      if (range[i].end <= b * TRAIN_BLOCK || range[i].begin >= (b + 1) * TRAIN_BLOCK) continue;
      global Key* const list = out + (ulong)(p * PASS + i - sides.q_first) * out_at.stride;
      bound[i] = offer_group_lanes(acc[i], bound[i], list, k, b * TRAIN_BLOCK, &range[i]);
      value[i] = value_of(bound[i]);
    }
    ++b;
  }
  for (uint i = 0; i < PASS; ++i)
    if (bound[i] != 0) list_finish(out + (ulong)(p * PASS + i - sides.q_first) * out_at.stride, k);
}
