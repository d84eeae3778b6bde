// Lists of candidates, one for each query, as arguments of kernels. docs/certificate.md, section 4.
//
//   rows    [q, capacity]  training rows, in any order
//   counts  [q]            number of candidates listed so far; may exceed the capacity
//   lows    [q, capacity]  with -D BOUNDS: lower bounds, which were compared with the threshold
//   highs   [q, capacity]  with -D BOUNDS: keys of upper bounds of the same values (spi::Bounds)
//   lists                  the places of all four
#include "common/common.cl"

// This is Lists in device.hpp of the back end.
typedef struct {
  Place rows, counts, lows, highs;
  uint capacity;
} Lists;

#define CANDIDATES                                                                       \
  global uint *restrict rows, global uint *restrict counts, global float *restrict lows, \
      global Key *restrict highs, const Lists lists

// Passes these on in a call.
#define CANDIDATES_HERE rows, counts, lows, highs, lists

#define COUNT_OF(q) (counts + lists.counts.first + (q)*lists.counts.stride)

// Returns an upper bound of v + gap + |v| 2^-22, as ordered(). It is the next float, because sums
// are rounded.
uint ordered_high(float v, float gap) {
  const float high = v + (gap + fabs(v) * 0x1p-22f);
  return ordered(high) + (high < INFINITY);
}

Key high_key(float v, float gap, uint row) {
  return (Key)ordered_high(v, gap) << 32 | row;
}

// Returns the same for a sample (spi::CollectStep); NO_VALUE if v is NaN.
uint high_in_sample(float v, float gap) {
  return isnan(v) ? NO_VALUE : ordered_high(v, gap);
}

// Writes place `place` of list q. v and gap are computed only if they are needed.
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
