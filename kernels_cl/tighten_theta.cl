// tighten, last kernel: what still counts as near, from the k-th best value so far.
//
//   best    [q, k]   ascending, padded with NO_KEY, stride in elements
//   counts  [q]      in; 0 afterwards, stride in elements
//   lost    [q]      becomes 1 where counts is above the capacity, else stays, stride in elements
//   halves  [q]      with -D HALVES: at most |q'|^2 / 2
//   theta   [q]      rounded up, stride in elements
//
// Work-item q takes query q. With -D HALVES, half a squared distance of rows of `dims` columns is compared
// with low - product, where the query's own part is missing; otherwise the value itself is compared.
// docs/certificate.md, section 4.
#include "bounds.cl"

float theta_of(float value, uint dims, float half_norm) {
#ifdef HALVES
  if (isinf(value)) return INFINITY;
#if DOUBLES
  const double b = (dims + 2) * 0x1p-24, g = b / (1 - b);
  const double half_value = 0.5 * (value + dims * 0x1p-149) / (1 - g);
  return round_up(half_value - half_norm + (half_value + half_norm) * 0x1p-49);
#else
  const float half_value =
      0.5f * value * (1.0f + (float)(2 * dims + 16) * 0x1p-24f) + (float)dims * 0x1p-140f;
  return half_value - half_norm + (half_value + half_norm) * 0x1p-22f;
#endif
#else
  return value;
#endif
}

kernel void kith_tighten_theta(global const Key* restrict best, ulong best_first, ulong best_stride,
                               uint q_rows, uint k, global uint* restrict counts, ulong counts_first,
                               ulong counts_stride, uint capacity, global uint* restrict lost,
                               ulong lost_first, ulong lost_stride, uint dims,
                               global const float* restrict halves, ulong halves_first,
                               global float* restrict theta, ulong theta_first, ulong theta_stride) {
  const ulong q = get_global_id(0);
  if (q >= q_rows) return;
  const float value = value_of(best[best_first + q * best_stride + k - 1]);
#ifdef HALVES
  theta[theta_first + q * theta_stride] = theta_of(value, dims, halves[halves_first + q]);
#else
  theta[theta_first + q * theta_stride] = value;
#endif
  global uint* count = counts + counts_first + q * counts_stride;
  if (*count > capacity) lost[lost_first + q * lost_stride] = 1;
  *count = 0;
}
