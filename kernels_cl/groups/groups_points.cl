// groups, for GPUs and few columns: finds the k nearest rows of each query in its group.
//
//   queries [q, DIMS]   train [t, DIMS]   blocks of 32 rows
//   query_borders, row_borders [groups + 1]
//   out [q, k]   keys, ascending, padded with NO_KEY
//
// Each of the GROUP items of a work-group keeps one query, and goes through the first PARTS * EACH rows of
// its group twice. First it keeps the least chain of each part of EACH rows, and the LIST smallest of those
// of two parts (of one, if LIST > 16). Each belongs to a row of its own, so the k-th bounds the distance of
// the k-th neighbour. Then it goes through the parts whose least chain is within the bound, mostly one in
// seven, and their rows within the bound go by a queue of QUEUE keys to its list in registers. Least chains
// are kept as the upper 16 bits of their ordered form: no order is turned around by that, so that no part
// within the bound is missed. Later rows are read once. All items empty their queues together.
// Work: 1.2 q t' DIMS multiply-adds for groups of t' rows, and some 1.2 k insertions per list for the first
// rows. Local memory: GROUP (2 PARTS + 8 QUEUE) bytes.
// Source: minima of parts as a bound after Alabi and others, Fast k-selection algorithms for graphics
// processing units, 2012; thread queues of Johnson, Douze, Jegou 2017 (FAISS).
#include "common/register_list.cl"
#include "groups/chains_of.cl"
#include "groups/group_of.cl"

#define PASS_ROWS (PARTS * EACH)

// Inserts a value into LIST ascending values and drops the last.
void insert_value(float list[LIST], float value) {
#pragma unroll
  for (uint j = LIST - 1; j > 0; --j) list[j] = fmin(list[j], fmax(list[j - 1], value));
  list[0] = fmin(list[0], value);
}

// Computes the chains with rows r ... r + EACH - 1 of the memory, a NaN for rows that do not count; returns
// the least, +infinity for none.
ALL_INLINE float chains_at(const float a[DIMS], global const float* train, uint r, const Range* range,
                           float acc[EACH]) {
  chains_of(a, 0, train + ((size_t)(r / BLOCK) * DIMS * BLOCK + r % BLOCK), DIMS, acc);
  float least = INFINITY;
#pragma unroll
  for (uint e = 0; e < EACH; ++e) {
    const uint t = r + e;
    if (t < range->begin || t >= range->end || t == range->own) acc[e] = NAN;
    least = fmin(least, acc[e]);
  }
  return least;
}

// Returns the bits that items of the work-group set, of which all call this with one turn after the other.
// A vote is emptied two turns before it is used again.
ALL_INLINE uint vote(uint bits, local uint* votes, uint turn) {
  if (bits != 0) atomic_or(&votes[turn % 3], bits);
  if (get_local_id(0) == 0) votes[(turn + 1) % 3] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  return votes[turn % 3];
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_groups_points(
    global const float* restrict queries, global const float* restrict train, const Sides sides,
    global const uint* restrict query_borders, Place query_borders_at,
    global const uint* restrict row_borders, Place row_borders_at, const Shape shape,
    global Key* restrict out, Place out_at) {
  local ushort least[PARTS * GROUP];  // [PARTS, GROUP]
  local Key queues[QUEUE * GROUP];    // [QUEUE, GROUP]
  local uint votes[3];
  const uint lid = (uint)get_local_id(0), k = shape.k;
  const bool asks = (uint)get_global_id(0) < sides.q_rows;
  const uint q = min((uint)get_global_id(0), sides.q_rows - 1), at = sides.q_first + q;
  Range range = range_of(q, sides.t_first, shape, query_borders + query_borders_at.first,
                         row_borders + row_borders_at.first);
  if (!asks) range.end = range.begin;
  if (lid == 0) votes[0] = votes[1] = 0;
  float a[DIMS];
#pragma unroll
  for (uint d = 0; d < DIMS; ++d) a[d] = queries[((size_t)(at / BLOCK) * DIMS + d) * BLOCK + at % BLOCK];

  const uint r0 = range.begin / (2 * EACH) * (2 * EACH);
  const uint stop = range.begin < range.end ? min(range.end, r0 + PASS_ROWS) : r0;
  const uint filled = (stop - r0 + 2 * EACH - 1) / (2 * EACH) * 2;
  float bounds[LIST];
#pragma unroll
  for (uint j = 0; j < LIST; ++j) bounds[j] = j < LIST - k ? -INFINITY : INFINITY;
  for (uint p = 0; p < filled; p += 2) {
    float acc[EACH];
    const float one = chains_at(a, train, r0 + p * EACH, &range, acc);
    const float other = chains_at(a, train, r0 + (p + 1) * EACH, &range, acc);
    least[p * GROUP + lid] = (ushort)(ordered(one) >> 16);
    least[(p + 1) * GROUP + lid] = (ushort)(ordered(other) >> 16);
#if LIST > 16
    insert_value(bounds, one);
    insert_value(bounds, other);
#else
    insert_value(bounds, fmin(one, other));
#endif
  }
  float value = bounds[LIST - 1];
  const uint code = ordered(value) >> 16;
  uint within = 0;  // parts, whose numbers replace the least chains of those before
  for (uint p = 0; p < filled; ++p)
    if (least[p * GROUP + lid] <= code) least[within++ * GROUP + lid] = (ushort)p;

  Key list[LIST];
  start_list(list, k);
  uint size = 0;
  local Key* queue = queues + lid;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint i = 0, later = r0 + PASS_ROWS;
  for (uint turn = 0;; ++turn) {
    if (i < within || later < range.end) {
      const uint r = i < within ? r0 + least[i * GROUP + lid] * EACH : later;
      if (i < within)
        ++i;
      else
        later += EACH;
      float acc[EACH];
      if (chains_at(a, train, r, &range, acc) <= value) {
#pragma unroll
        for (uint e = 0; e < EACH; ++e)
          if (acc[e] <= value) queue[size++ * GROUP] = make_key(acc[e], r + e + range.shift);
      }
    }
    const bool goes_on = i < within || later < range.end;
    const uint said = vote((goes_on ? 1 : 0) | (size > QUEUE - EACH ? 2 : 0), votes, turn);
    if ((said & 2) != 0) {
      value = fmin(value, take_queue(queue, size, list));
      size = 0;
    }
    if ((said & 1) == 0) break;
  }
  take_queue(queue, size, list);
  if (!asks) return;
  global Key* to = out + out_at.first + (ulong)q * out_at.stride;
  put_list(list, k, to);
}
