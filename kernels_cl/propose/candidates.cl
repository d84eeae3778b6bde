// Lists of candidates, one for each query, as arguments of a kernel. docs/certificate.md, section 4.
//
//   rows    [q, capacity]  training rows, in any order
//   counts  [q]            listed so far, may exceed the capacity
//   lows    [q, capacity]  with -D BOUNDS: what was compared with the threshold
//   highs   [q, capacity]  likewise: the key of what is at least what `low` is at most (spi::Bounds)
//   lists                  where all four stand
#include "common/common.cl"

// Lists in device.hpp of the back end.
typedef struct {
  Place rows, counts, lows, highs;
  uint capacity;
} Lists;

#define CANDIDATES                                                                       \
  global uint *restrict rows, global uint *restrict counts, global float *restrict lows, \
      global Key *restrict highs, const Lists lists

// The same, handed on.
#define CANDIDATES_HERE rows, counts, lows, highs, lists

#define COUNT_OF(q) (counts + lists.counts.first + (q)*lists.counts.stride)

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
#define PUT_CANDIDATE(q, place, row, v, gap)                                             \
  do {                                                                                   \
    rows[lists.rows.first + (q)*lists.rows.stride + (place)] = row;                      \
    lows[lists.lows.first + (q)*lists.lows.stride + (place)] = v;                        \
    highs[lists.highs.first + (q)*lists.highs.stride + (place)] = high_key(v, gap, row); \
  } while (0)
#else
#define PUT_CANDIDATE(q, place, row, v, gap) rows[lists.rows.first + (q)*lists.rows.stride + (place)] = row
#endif
