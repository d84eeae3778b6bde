// collect, for CPU devices: append the columns of a tile that may be as near as the threshold to the lists of
// candidates.
//
//   values     [q, t]          row-major, stride in elements: distances, or inner products of quantized rows
//   low        [t]             with -D LOW: what a product is taken from (collect_low.cl), `gap_first` floats
//                              before `gap`
//   threshold  [q]             stride in elements
//   rows, counts, lows, highs   candidates.cl
//
// Kept is what is at most the threshold: values, of which a masked one, NaN, never is; or with -D LOW low -
// value, where a product that is not a number is kept, and the chain will judge it, but nothing of a row of
// which low is NaN: such a row does not count. Work-item (c, q) scans `chunk` columns of row q, 16 at a time.
// Work: q * t comparisons; values is read once.
// No twin in kernels_cuda: it is for CPU devices, which CUDA has not.
#include "propose/append_lanes.cl"

kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kith_collect_lanes(
    global const float* restrict values, Place values_at, uint q_rows, uint t_rows,
    global const float* restrict low, ulong gap_first, global const float* restrict threshold_of,
    Place threshold_at, uint first_row, uint chunk, CANDIDATES) {
  const ulong q = get_global_id(1);
  global const float* row = values + values_at.first + q * values_at.stride;
  const float threshold = threshold_of[threshold_at.first + q * threshold_at.stride];
  const ulong end = min((ulong)t_rows, (get_global_id(0) + 1) * chunk);
  for (ulong t = get_global_id(0) * chunk; t < end; t += 16) {
    float16 value;
#ifdef LOW
    float16 least;
#endif
    int16 inside = -1;
    if (t + 16 <= end) {
      value = vload16(0, row + t);
#ifdef LOW
      least = vload16(0, low + t);
#endif
    } else {
      float values_left[16], low_left[16];
      int is_left[16];
      for (uint j = 0; j < 16; ++j) {
        is_left[j] = t + j < end ? -1 : 0;
        values_left[j] = is_left[j] ? row[t + j] : 0;
#ifdef LOW
        low_left[j] = is_left[j] ? low[t + j] : 0;
#endif
      }
      value = vload16(0, values_left);
      inside = vload16(0, is_left);
#ifdef LOW
      least = vload16(0, low_left);
#endif
    }
#ifdef LOW
    value = least - value;
    const int16 near = inside & (least == least) & ~(value > (float16)(threshold));
#else
    const int16 near = inside & (value <= (float16)(threshold));
#endif
    if (any(near)) append(near, value, low + gap_first + t, q, first_row + (uint)t, CANDIDATES_HERE);
  }
}
