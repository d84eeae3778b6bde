// collect: appends the columns of a tile that may be within the threshold to the lists of candidates.
//
//   values     [q, t]          row-major, stride in elements: distances, or inner products of quantized rows
//   low        [t]             with -D LOW: the values from which products are subtracted (collect_low.cl),
//                              `gap_first` floats before `gap`
//   threshold  [q]             stride in elements
//   rows, counts, lows, highs   see candidates.cl
//
// Values that are at most the threshold are kept; a masked value, NaN, never is. With -D LOW, low - value is
// compared instead: a product that is NaN is kept, and the chain decides; but nothing is kept of a row whose
// low is NaN, because such a row does not count. Work-group (x, y) of GROUP items scans EACH * GROUP columns
// of QUERIES rows, with low in registers. It counts what it keeps in local memory, and reserves places for
// all of it with one atomic addition per row. Two barriers.
// Work: q * t comparisons; values are read once.
#include "propose/candidates.cl"

#define EACH 8     // columns per item
#define QUERIES 8  // rows per group

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_collect(
    global const float* restrict values, Place values_at, uint q_rows, uint t_rows,
    global const float* restrict low_of, ulong gap_first, global const float* restrict threshold_of,
    Place threshold_at, uint first_row, CANDIDATES) {
  local uint kept[QUERIES], begin[QUERIES];
  const uint lid = (uint)get_local_id(0);
  const ulong t0 = (ulong)get_group_id(0) * (EACH * GROUP) + lid;
  const uint q0 = (uint)get_group_id(1) * QUERIES;
  for (uint i = lid; i < QUERIES; i += GROUP) kept[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);

#ifdef LOW
  float low[EACH];
#pragma unroll
  for (uint j = 0; j < EACH; ++j) low[j] = t0 + j * GROUP < t_rows ? low_of[t0 + j * GROUP] : NAN;
#endif
  ulong near = 0;        // bit i * EACH + j: row i keeps column j of this item
  uint before[QUERIES];  // number of values kept by other items, whose places come before
#pragma unroll
  for (uint i = 0; i < QUERIES; ++i) {
    if (q0 + i >= q_rows) continue;
    global const float* row = values + values_at.first + (q0 + i) * values_at.stride;
    const float threshold = threshold_of[threshold_at.first + (q0 + i) * threshold_at.stride];
    float mine[EACH];
#pragma unroll
    for (uint j = 0; j < EACH; ++j) mine[j] = t0 + j * GROUP < t_rows ? row[t0 + j * GROUP] : 0;
    uint bits = 0;
#pragma unroll
    for (uint j = 0; j < EACH; ++j) {
#ifdef LOW
      const bool far = low[j] - mine[j] > threshold || isnan(low[j]);
#else
      const bool far = !(mine[j] <= threshold);
#endif
      bits |= (uint)(!far && t0 + j * GROUP < t_rows) << j;
    }
    if (bits) before[i] = atomic_add(kept + i, popcount(bits));
    near |= (ulong)bits << (i * EACH);
  }

  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = lid; i < QUERIES; i += GROUP)
    if (kept[i]) begin[i] = atomic_add(COUNT_OF(q0 + i), kept[i]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!near) return;
#pragma unroll
  for (uint i = 0; i < QUERIES; ++i) {
    uint bits = (uint)(near >> (i * EACH)) & ((1u << EACH) - 1);
    if (!bits) continue;
    for (uint place = begin[i] + before[i]; bits && place < lists.capacity; ++place, bits &= bits - 1) {
      const ulong t = t0 + (31 - clz(bits & (0u - bits))) * GROUP;
      PUT_CANDIDATE(q0 + i, place, first_row + (uint)t,
                    low_of[t] - values[values_at.first + (q0 + i) * values_at.stride + t],
                    low_of[gap_first + t]);
    }
  }
}
