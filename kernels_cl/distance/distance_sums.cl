// distance by a metric of two sums, -D METRIC=<id>: computes the quotient of the sums of each pair of a query
// and a training row.
//
//   queries [q, dims]   blocks of QUERY_BLOCK rows     train [t, dims]   blocks of TRAIN_BLOCK rows
//   terms   [dims]      with -D MIXED: parameters of the columns (metrics.def); sums are then of terms
//   columns  of a row: its bits, in dims words; or dims, of which some may be NaN, if the metric takes gaps
//   out     [q, t]      row-major, stride in elements; raw values
//
// Work-group g of GROUP items takes query run g % runs, of RUN queries, and GROUP training rows, one an item:
// neighbouring items read neighbouring values of a block of rows, and neighbouring groups the same rows.
// There is one kernel for both families. With -D BITS a word of a pair is counted once: where the ones of
// both rows are known, those that differ follow from those that both have.
// Work: q * t * dims times two sums, or one count, and a division of whole numbers of 64 bits for each pair.
#include "common/metric.cl"

typedef uint bits_sum;
typedef float numbers_sum;
typedef float gaps_sum;

uint ones_both(float a, float b) {
  return popcount(as_uint(a) & as_uint(b));
}
uint ones_apart(float a, float b) {
  return popcount(as_uint(a) ^ as_uint(b));
}
float known(float x) {
  return isnan(x) ? 0.0f : x;
}
float is_known(float x) {
  return isnan(x) ? 0.0f : 1.0f;
}

// Returns the mantissa of a finite float above 0, from 2^23 up to 2^24. The float is that times 2^exponent.
uint mantissa_of(float value, int* exponent) {
  const uint bits = as_uint(value), fraction = bits & 0x7FFFFFu;
  *exponent = (int)(bits >> 23) - 150;
  if (bits >> 23 != 0) return fraction | 0x800000u;
  const int shift = (int)clz(fraction) - 8;
  *exponent = -149 - shift;
  return fraction << shift;
}

// Returns a / b 2^unit, rounded once to nearest, ties to even: a device may divide floats with an error of
// 2.5 units. a / b is at least 2^25. `cut` bits of the quotient are rounded off, so that 24 remain, or fewer
// if it is below 2^-126.
float rounded_quotient(ulong a, ulong b, int unit) {
  const ulong quotient = a / b, rest = a - quotient * b;
  const int bits = 64 - (int)clz(quotient), cut = max(bits - 24, -149 - unit);
  if (cut > bits) return 0.0f;  // below half of 2^-149
  const ulong dropped = quotient & (((ulong)1 << cut) - 1), half_unit = (ulong)1 << (cut - 1);
  ulong kept = quotient >> cut;
  if (dropped > half_unit || (dropped == half_unit && (rest != 0 || (kept & 1) != 0))) ++kept;
  const int field = unit + cut + 149;  // one below the exponent of a normal float, whose first bit adds one
  return field >= 254 ? INFINITY : as_float(((uint)field << 23) + (uint)kept);
}

float share(float p, float q) {
  if (p == 0.0f) return 0.0f;
  if (q == 0.0f || p == INFINITY) return INFINITY;
  if (q == INFINITY) return 0.0f;
  int e, f;
  const ulong a = mantissa_of(p, &e), b = mantissa_of(q, &f);
  return rounded_quotient(a << 26, b, e - f - 26);
}

// A division of whole numbers is exact on every device.
float share_code(float p, float q) {
  const ulong code = p == 0.0f ? 0 : (ulong)p * 0x7F7FFFFE / (ulong)q;
  return as_float(0xFF7FFFFFu - (uint)code);
}

// y is at most n, which is at most 2^24, so that the quotient has from 27 to 51 bits.
float rescaled(float x, float n, float y) {
  if (y == 0.0f) return as_float(MASKED);
  if (x == 0.0f || x == INFINITY) return x;
  int e;
  const ulong a = mantissa_of(x, &e);
  return rounded_quotient(a * (ulong)n << 3, (ulong)y, e - 3);
}

#define KITH_METRIC(id, prepare, start, accumulate, finish)
#define KITH_SUMS(id, rows, first, second, key, floats, shown)    \
  typedef rows##_sum sum_##id;                                    \
  rows##_sum next_first_##id(rows##_sum acc, float a, float b) {  \
    return first;                                                 \
  }                                                               \
  rows##_sum next_second_##id(rows##_sum acc, float a, float b) { \
    return second;                                                \
  }                                                               \
  float quotient_##id(float x, float y, float n) {                \
    if (floats > 0 && n > floats) return share_code(y, x + y);    \
    return key;                                                   \
  }
#include "kith/metrics.def"
#undef KITH_SUMS
#undef KITH_METRIC

#define GROUP 64
#define SUM JOIN(sum_, METRIC)
#define next_first JOIN(next_first_, METRIC)
#define next_second JOIN(next_second_, METRIC)
#define quotient_of JOIN(quotient_, METRIC)

#ifdef BITS
// Counts the ones of the queries of a run, by all items of a group.
ALL_INLINE void count_ones(global const float* queries, const size_t query[RUN], uint dims,
                           local uint ones[RUN]) {
  const uint item = (uint)get_local_id(0);
  if (item < RUN) ones[item] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = 0; i < RUN; ++i) {
    uint own = 0;
    for (uint d = item; d < dims; d += GROUP) {
      const float a = queries[query[i] + (size_t)d * QUERY_BLOCK];
      own += ones_both(a, a);
    }
    if (own > 0) atomic_add(&ones[i], own);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_distance_sums(
    global const float* restrict queries, global const float* restrict train, const Sides sides,
    global const float* restrict terms, uint columns, global float* restrict out, Place out_at) {
  const uint runs = (sides.q_rows + RUN - 1) / RUN, group = (uint)get_group_id(0), dims = sides.dims;
  const uint t = group / runs * GROUP + (uint)get_local_id(0), q0 = group % runs * RUN;
  size_t query[RUN];
  SUM firsts[RUN], seconds[RUN];
#pragma unroll
  for (uint i = 0; i < RUN; ++i) {  // the last run may take the last query again
    const uint from = sides.q_first + min(q0 + i, sides.q_rows - 1);
    query[i] = (size_t)(from / QUERY_BLOCK) * dims * QUERY_BLOCK + from % QUERY_BLOCK;
    firsts[i] = 0;
    seconds[i] = 0;
  }
#ifdef BITS
  local uint ones[RUN];
  count_ones(queries, query, dims, ones);
  uint ones_of_row = 0;
#endif
  if (t >= sides.t_rows) return;
  const uint to = sides.t_first + t;
  train += (size_t)(to / TRAIN_BLOCK) * dims * TRAIN_BLOCK + to % TRAIN_BLOCK;
#pragma unroll 8
  for (uint d = 0; d < dims; ++d) {
    const float b = train[(size_t)d * TRAIN_BLOCK];
#ifdef BITS
    ones_of_row += ones_both(b, b);
#endif
#pragma unroll
    for (uint i = 0; i < RUN; ++i) {
      const float a = queries[query[i] + (size_t)d * QUERY_BLOCK];
#ifdef MIXED
      const float x = pair_term(a, b, terms[d]), y = 0.0f;
#else
      const float x = a, y = b;
#endif
      firsts[i] = next_first(firsts[i], x, y);
#ifndef BITS
      seconds[i] = next_second(seconds[i], x, y);
#endif
    }
  }
#ifdef BITS
#pragma unroll
  for (uint i = 0; i < RUN; ++i) seconds[i] = ones_of_row + ones[i] - 2 * firsts[i];
#endif
  for (uint i = 0; i < RUN && q0 + i < sides.q_rows; ++i)
    out[out_at.first + (q0 + i) * out_at.stride + t] =
        quotient_of((float)firsts[i], (float)seconds[i], (float)columns);
}
