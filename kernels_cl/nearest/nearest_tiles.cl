// nearest, for many queries of many dimensions (GPUs): computes distances and selects in one step.
//
//   queries [q, dims]   train [t, dims]   blocks of 32 rows
//   out     [q, lists * k]     keys, ascending in each list, padded with NO_KEY
//   queues  [q tiles, lists, QUEUE, 128]  scratch: candidates of a work-group's queries
//
// Work-group (x, g) of 256 items keeps 128 queries and computes their distances from the rows of group g, 128
// at a time (tile.cl). Keys below the query's bound, which is the last key of its list, are queued. When a
// queue holds more than MERGE_AT keys, work-items 0 ... 127 insert the queues into the lists, one query each.
// A tile adds at most 128 keys to a queue, so it never overflows: QUEUE = MERGE_AT + 128.
// Work: q * t * dims multiply-adds and one comparison per pair; if rows are in random order, about k (1 +
// ln(t / (lists k))) insertions per list. Source of the selection: Garcia, Debreuve, Barlaud 2008, behind
// a filter.
#include "common/list.cl"
#include "common/tile.cl"

#define QUEUE (MERGE_AT + TILE)

// Inserts the queue of one query into its list; returns the value of the new bound.
float take_queue(global const Key* queue, uint size, global Key* list, uint k) {
  Key bound = list_bound(list, k);
  for (uint e = 0; e < size; ++e) {
    const Key key = queue[(size_t)e * TILE];
    if (key >= bound) continue;
    list_take(list, k, key);
    bound = list_bound(list, k);
  }
  return value_of(bound);
}

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void kith_nearest_tiles(
    global const float* restrict queries, global const float* restrict train, const Sides sides,
    uint first_row, uint k, uint lists, global Key* restrict out, Place out_at, global Key* restrict queues) {
  const uint q_first = sides.q_first, q_rows = sides.q_rows, t_first = sides.t_first, t_rows = sides.t_rows,
             dims = sides.dims;
  local float q_staged[2 * STEP * TILE] __attribute__((aligned(16)));
  local float t_staged[2 * STEP * TILE] __attribute__((aligned(16)));
  local float bounds[TILE];  // values of the bounds; NaN, which nothing passes, for a query outside the tile
  local uint counts[TILE];
  local uint full;
  const uint lid = (uint)get_local_id(0), y = lid / 16, x = lid % 16;
  const uint g = (uint)get_group_id(1);
  const uint q_block = q_first / BLOCK + (uint)get_group_id(0) * (TILE / BLOCK);
  const uint begin = t_first + first_column(g, t_rows, lists);
  const uint end = t_first + first_column(g + 1, t_rows, lists);
  const uint q_last = (q_first + q_rows - 1) / BLOCK, t_last = (t_first + t_rows - 1) / BLOCK;
  const uint shift = first_row - t_first;  // wraps around, and back when it is added
  queues += (get_group_id(0) * (size_t)lists + g) * TILE * QUEUE;

  const uint my_query = q_block * BLOCK + lid;
  const bool keeps_list = lid < TILE && my_query >= q_first && my_query < q_first + q_rows;
  global Key* list = out + out_at.first + (ulong)g * k;
  if (keeps_list) {
    list += (my_query - q_first) * out_at.stride;
    list_start(list, k);
  }
  if (lid < TILE) {
    bounds[lid] = keeps_list ? INFINITY : NAN;
    counts[lid] = 0;
  }
  if (lid == 0) full = 0;
  barrier(CLK_LOCAL_MEM_FENCE);

  for (uint b = begin / BLOCK; begin < end && b <= (end - 1) / BLOCK; b += TILE / BLOCK) {
    float acc[EACH][EACH];
    tile_chains(queries, q_block, q_last, train, b, t_last, dims, q_staged, t_staged, acc);
#pragma unroll
    for (uint i = 0; i < EACH; ++i) {
      const uint q = place_in_tile(y, i);
      const float value = bounds[q];
      bool near = false;
#pragma unroll
      for (uint j = 0; j < EACH; ++j) near |= acc[i][j] <= value;
      if (!near) continue;
#pragma unroll
      for (uint j = 0; j < EACH; ++j) {
        const uint t = b * BLOCK + place_in_tile(x, j);
        if (!(acc[i][j] <= value) || t < begin || t >= end) continue;
        const uint place = atomic_inc(counts + q);
        queues[(size_t)place * TILE + q] = make_key(acc[i][j], t + shift);
        if (place >= MERGE_AT) full = 1;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (full && keeps_list) {
      bounds[lid] = take_queue(queues + lid, counts[lid], list, k);
      counts[lid] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (lid == 0) full = 0;  // it comes before the next tile's first barrier, and so before its epilogue
  }
  if (keeps_list) {
    take_queue(queues + lid, counts[lid], list, k);
    list_finish(list, k);
  }
}
