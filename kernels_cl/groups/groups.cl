// groups, for GPUs: finds the k nearest rows of each query in its group.
//
//   queries [q, dims]   train [t, dims]   blocks of 32 rows
//   query_borders, row_borders [groups + 1]
//   out [q, k]   keys, ascending, padded with NO_KEY
//
// Each of the GROUP items of a work-group keeps one query, with its list of LIST >= k keys in registers, and
// finds its group by halving. The work-group goes through the rows that any of its queries asks, 32 at a
// time; an item takes those of its own group among them, EACH at a time. Queries of a work-group are mostly
// of one group, so that its items read the same rows at once. The rows below the bound go to a queue of QUEUE
// keys per item. All items empty their queues into their lists together, so that none waits for the
// insertions of another. With -D DIMS queries are in registers.
// Work: q t' dims multiply-adds for groups of t' rows, and as many insertions as in nearest_low_dim.cl. Local
// memory: 8 GROUP (QUEUE + 1) bytes. Source: see nearest_low_dim.cl.
#include "common/register_list.cl"
#include "groups/chains_of.cl"
#include "groups/group_of.cl"

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_groups(
    global const float* restrict queries, global const float* restrict train, const Sides sides,
    global const uint* restrict query_borders, Place query_borders_at,
    global const uint* restrict row_borders, Place row_borders_at, const Shape shape,
    global Key* restrict out, Place out_at) {
  local Key queues[QUEUE * GROUP];  // [QUEUE, GROUP]
  local uint begins[GROUP], ends[GROUP];
  local uint full;
  const uint lid = (uint)get_local_id(0), dims = sides.dims, k = shape.k;
  const uint q = min((uint)get_global_id(0), sides.q_rows - 1), at = sides.q_first + q;
  const Range range = range_of(q, sides.t_first, shape, query_borders + query_borders_at.first,
                               row_borders + row_borders_at.first);
  begins[lid] = range.begin;
  ends[lid] = range.end;
  if (lid == 0) full = 0;
  global const float* query = queries + ((size_t)(at / BLOCK) * dims * BLOCK + at % BLOCK);
#ifdef DIMS
  float a[DIMS];
#pragma unroll
  for (uint d = 0; d < DIMS; ++d) a[d] = query[(size_t)d * BLOCK];
#else
  const float* a = 0;
#endif
  Key list[LIST];
  start_list(list, k);
  float value = INFINITY;  // value of the bound
  uint size = 0;
  local Key* queue = queues + lid;
  barrier(CLK_LOCAL_MEM_FENCE);

  uint block = begins[0] / BLOCK * BLOCK;
  for (uint item = 0;; block += BLOCK) {
    // Goes on to the next block of which an item wants rows. The ranges of items ascend.
    while (item < GROUP && (ends[item] <= block || begins[item] == ends[item])) ++item;
    if (item == GROUP) break;
    block = max(block, begins[item] / BLOCK * BLOCK);
    const uint stop = min(range.end, block + BLOCK);
    for (uint r = max(range.begin / EACH * EACH, block); r < stop; r += EACH) {
      float acc[EACH];
      chains_of(a, query, train + ((size_t)(r / BLOCK) * dims * BLOCK + r % BLOCK), dims, acc);
      float least = acc[0];
#pragma unroll
      for (uint e = 1; e < EACH; ++e) least = fmin(least, acc[e]);
      if (!(least <= value)) continue;
      if (size > QUEUE - EACH) {
        value = take_queue(queue, size, list);
        size = 0;
      }
#pragma unroll
      for (uint e = 0; e < EACH; ++e) {
        const uint t = r + e;
        if (acc[e] <= value && t >= range.begin && t < range.end && t != range.own)
          queue[size++ * GROUP] = make_key(acc[e], t + range.shift);
      }
    }
    if (size > QUEUE - EACH) full = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    const bool merge = full;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!merge) continue;
    value = take_queue(queue, size, list);
    size = 0;
    if (lid == 0) full = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  take_queue(queue, size, list);
  if ((uint)get_global_id(0) >= sides.q_rows) return;
  global Key* to = out + out_at.first + (ulong)q * out_at.stride;
  put_list(list, k, to);
}
