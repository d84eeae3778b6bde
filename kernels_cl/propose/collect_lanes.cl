// collect, for CPU devices: appends the columns of a tile that may be within the threshold to the lists
// of candidates.
//
//   values     [q, t]          row-major, stride in elements: distances, or inner products of quantized rows
//   low        [t]             with -D LOW: the values from which products are subtracted (collect_low.cl),
//                              `gap_first` floats before `gap`
//   threshold  [q]             stride in elements
//   rows, counts, lows, highs   see candidates.cl
//
// Values that are at most the threshold are kept; a masked value, NaN, never is. With -D LOW, low - value
// is compared instead: a product that is NaN is kept, and the chain decides; but nothing is kept of a row
// whose low is NaN, because such a row does not count. Work-item (c, q) scans `chunk` columns of row q, 16
// at a time.
// Work: q * t comparisons; values are read once.
// No twin in kernels_cuda: CUDA has no CPU devices.
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
