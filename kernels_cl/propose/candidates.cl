// Lists of candidates, one for each query, as arguments of a kernel. docs/certificate.md, section 4.
//
//   rows    [q, capacity]  training rows, in any order, stride in elements
//   counts  [q]            listed so far, may exceed the capacity, stride in elements
//   lows    [q, capacity]  with -D BOUNDS: what was compared with the threshold, stride in elements
//   highs   [q, capacity]  likewise: the key of what is at least what `low` is at most (spi::Bounds)
#include "common/common.cl"

#define CANDIDATES                                                                                        \
  global uint *restrict rows, ulong rows_first, ulong rows_stride, uint capacity,                         \
      global uint *restrict counts, ulong counts_first, ulong counts_stride, global float *restrict lows, \
      ulong lows_first, ulong lows_stride, global Key *restrict highs, ulong highs_first, ulong highs_stride

// The same, handed on.
#define CANDIDATES_HERE                                                                           \
  rows, rows_first, rows_stride, capacity, counts, counts_first, counts_stride, lows, lows_first, \
      lows_stride, highs, highs_first, highs_stride

#define COUNT_OF(q) (counts + counts_first + (q)*counts_stride)

// What is at least v + gap + |v| 2^-22, as ordered(): the next float, since sums are rounded.
uint ordered_high(float v, float gap) {
  const float high = v + (gap + fabs(v) * 0x1p-22f);
  return ordered(high) + (high < INFINITY);
}

Key high_key(float v, float gap, uint row) {
  return (Key)ordered_high(v, gap) << 32 | row;
}

// The same in a sample (spi::CollectStep); nothing where v is not a number.
uint high_in_sample(float v, float gap) {
  return isnan(v) ? NO_VALUE : ordered_high(v, gap);
}

// Write place `place` of list q; v and gap are computed only where they are wanted.
#ifdef BOUNDS
#define PUT_CANDIDATE(q, place, row, v, gap)                                 \
  do {                                                                       \
    rows[rows_first + (q)*rows_stride + (place)] = row;                      \
    lows[lows_first + (q)*lows_stride + (place)] = v;                        \
    highs[highs_first + (q)*highs_stride + (place)] = high_key(v, gap, row); \
  } while (0)
#else
#define PUT_CANDIDATE(q, place, row, v, gap) rows[rows_first + (q)*rows_stride + (place)] = row
#endif
