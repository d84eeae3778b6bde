// The chain of one metric, -D METRIC=<id>, as metrics.def writes it. Of LANE: float, or a vector of
// floats each of which is a chain of its own.
#include "common/common.cl"

#ifndef LANE
#define LANE float
#endif

#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  LANE chain_start_##id(void) {                             \
    return (LANE)(start);                                   \
  }                                                         \
  LANE chain_next_##id(LANE acc, LANE a, LANE b) {          \
    return accumulate;                                      \
  }
#include "kith/metrics.def"
#undef KITH_METRIC

#define JOIN_NOW(a, b) a##b
#define JOIN(a, b) JOIN_NOW(a, b)
#define chain_start JOIN(chain_start_, METRIC)
#define chain_next JOIN(chain_next_, METRIC)
