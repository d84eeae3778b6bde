// Tests the products of up to 64 queries with 32 training rows (collect_small_batch.cl): gathers and appends
// what passes, or takes a sample of bounds. The twin of kernels_cuda/propose/small_batch_test.cuh.
#include "common/tensor.cl"
#include "common/warp.cl"
#include "kith/spi/kernel_limits.def"
#include "propose/candidates.cl"
#include "propose/product_error.cl"

#define PAIRS (2 * ACROSS)  // queries per item
#define FOUND 64            // number of findings that a warp has room for until they are appended

// One bit for each sum of an item.
#if PAIRS > 8
typedef ulong Pending;
#else
typedef uint Pending;
#endif

// Returns the terms that `low` of row t is computed from: residual, quantized_norm, and half_norm or norm;
// for exact products three times half_norm. They are NaN if there is no row, and may be NaN otherwise.
float3 row_terms_of(global const float* row_terms, ulong stride, ulong t, uint t_rows) {
  if (t >= t_rows) return (float3)(NAN);
#ifdef EXACT
  return (float3)(row_terms[t]);
#endif
  return (float3)(row_terms[RESIDUAL * stride + t], row_terms[QUANTIZED_NORM * stride + t],
                  row_terms[(HALVES ? 0 : NORM) * stride + t]);
}

// Returns `low` of a row; NaN if its terms are NaN, because next_up() would treat NaN as a number.
float low_of(ErrorTerms terms, float3 row_terms) {
  if (isnan(row_terms.x)) return NAN;
#ifdef EXACT
  return HALVES ? row_terms.z : 0.0f;
#endif
  return row_low(row_terms.z, row_error(terms, row_terms.x, HALVES ? 0.0f : row_terms.z, row_terms.y));
}

float gap_of(ErrorTerms terms, global const float* row_terms, ulong stride, ulong t, uint t_rows, float low) {
#ifdef EXACT
  return 0.0f;
#endif
  if (t >= t_rows) return 0.0f;
  const float norm = row_terms[NORM * stride + t];
  return row_gap(
      terms.gap_share, norm,
      row_error(terms, row_terms[RESIDUAL * stride + t], norm, row_terms[QUANTIZED_NORM * stride + t]), low);
}

// Gives each item, as element i, the value that item 8 i + lane / 4 has for its own row.
float4 spread(float mine, uint lane) {
  const uint value = as_uint(mine), row = lane / 4;
  return as_float4((uint4)(of_item(value, row), of_item(value, 8 + row), of_item(value, 16 + row),
                           of_item(value, 24 + row)));
}

#ifdef SAMPLE
// Writes the least bounds of each 16 of 32 rows.
//   v      [PAIRS]  of row 8 i + lane / 4; NaN if there is none
//   place  of the first row in the step
ALL_INLINE void put_sample(const float4* v, float4 gap, uint q_rows, uint place, uint lane, CANDIDATES) {
#pragma unroll
  for (uint pair = 0; pair < PAIRS; ++pair) {
    uint least = min(min(high_in_sample(v[pair].s0, gap.s0), high_in_sample(v[pair].s1, gap.s1)),
                     min(high_in_sample(v[pair].s2, gap.s2), high_in_sample(v[pair].s3, gap.s3)));
    // Four items, 4 apart, hold 16 rows together.
    least = min(least, of_item(least, lane ^ 4));
    least = min(least, of_item(least, lane ^ 8));
    const uint q = pair / 2 * 8 + lane % 4 * 2 + pair % 2;
    if (q < q_rows && lane % 16 < 4)
      rows[lists.rows.first + q * lists.rows.stride + place / KITH_SAMPLE_ROWS + lane / 16] = least;
  }
  JOIN_WARP();
}
#else
// Appends up to 32 findings, one per item. All items of the warp call this. The gap between the bounds is
// computed from the terms of the row, which are read again.
//   found  query, quantized training row, and the bits of the value that was compared with the threshold
ALL_INLINE void append_findings(local const uint4* found, uint many, uint first_row, ErrorTerms terms,
                                global const float* row_terms, ulong stride, uint t_rows, uint lane,
                                CANDIDATES) {
  JOIN_WARP();
  if (lane < many) {
    const uint4 one = found[lane];
    const ulong q = one.x;
    float gap = 0;
#ifdef BOUNDS
    gap = gap_of(terms, row_terms, stride, one.y, t_rows,
                 low_of(terms, row_terms_of(row_terms, stride, one.y, t_rows)));
#endif
    const uint at = atomic_add(COUNT_OF(q), 1u);
    if (at < lists.capacity) PUT_CANDIDATE(q, at, first_row + one.y, as_float(one.z), gap);
  }
  JOIN_WARP();
}

// Returns element `at` of v. Every element is read for any `at`, so that compilers keep v in registers.
ALL_INLINE float element_of(const float4* v, uint at) {
  uint found = 0;
#pragma unroll
  for (uint pair = 0; pair < PAIRS; ++pair) {
    const uint4 bits = as_uint4(v[pair]);
    found |= bits.s0 & (at == 4 * pair ? 0xFFFFFFFFu : 0u);
    found |= bits.s1 & (at == 4 * pair + 1 ? 0xFFFFFFFFu : 0u);
    found |= bits.s2 & (at == 4 * pair + 2 ? 0xFFFFFFFFu : 0u);
    found |= bits.s3 & (at == 4 * pair + 3 ? 0xFFFFFFFFu : 0u);
  }
  return as_float(found);
}
#endif
