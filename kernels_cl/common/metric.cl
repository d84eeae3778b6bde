// The chain of one metric, -D METRIC=<id>, as metrics.def writes it. LANE is its type: float, or a vector of
// floats, each of which is a chain of its own, or double.
#include "common/common.cl"

#define JOIN_NOW(a, b) a##b
#define JOIN(a, b) JOIN_NOW(a, b)

#ifdef LANE  // float16, or another type whose file defines LANE_WORDS
#ifndef LANE_WORDS
#define LANE_WORDS as_uint16
#endif
#else
#define LANE float
#define LANE_WORDS as_uint
#endif

// Returns the number of bits that differ, as a LANE.
LANE bits_apart(LANE a, LANE b) {
  return JOIN(convert_, LANE)(popcount(LANE_WORDS(a) ^ LANE_WORDS(b)));
}

#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  LANE chain_start_##id(void) {                             \
    return (LANE)(start);                                   \
  }                                                         \
  LANE chain_next_##id(LANE acc, LANE a, LANE b) {          \
    return accumulate;                                      \
  }
#define KITH_PERIODIC(term)                         \
  LANE periodic(LANE near, LANE far, LANE length) { \
    return term;                                    \
  }
#include "kith/metrics.def"
#undef KITH_PERIODIC
#undef KITH_METRIC

#ifdef MIXED
#include "common/terms.cl"
#endif

#define chain_start JOIN(chain_start_, METRIC)
#define chain_next JOIN(chain_next_, METRIC)

#ifdef MIXED
#define term_of mixed_term
#else
#define term_of periodic
#endif

// Returns the term of a pair of values in a column with the parameter p: in a periodic box, or -D MIXED. LANE
// is then float.
LANE pair_term(LANE a, LANE b, LANE p) {
#ifdef MIXED
  if (is_canberra(p)) return canberra(a, b);
#endif
  const LANE difference = fabs(a - b);
  return term_of(difference, difference, p);
}
