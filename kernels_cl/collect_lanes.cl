// collect, for CPU devices: append the columns of a tile that may be as near as theta to the lists of
// candidates.
//
//   values  [q, t]          row-major, stride in elements: distances, or inner products of shadows
//   low     [t]             with -D LOW: what a product is taken from (collect_low.cl)
//   theta   [q]             stride in elements
//   rows    [q, capacity]   lists of training rows, in any order, stride in elements
//   counts  [q]             appended so far, may exceed the capacity, stride in elements
//
// Kept is what is at most theta: values, of which a masked one, NaN, never is; or with -D LOW low - value,
// where a product that is not a number is kept, and the chain will judge it. Work-item (c, q) scans `chunk`
// columns of row q, 16 at a time. Work: q * t comparisons; values is read once.
#include "common.cl"

// Append the columns t ... t + 15 whose element of `near` is not 0.
void append(int16 near, uint row, global uint* list, uint capacity, global uint* count) {
  int lane[16];
  vstore16(near, 0, lane);
  uint many = 0;
  for (uint j = 0; j < 16; ++j) many += lane[j] != 0;
  uint place = atomic_add(count, many);
  for (uint j = 0; j < 16; ++j)
    if (lane[j] && place < capacity) list[place++] = row + j;
}

kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kith_collect_lanes(
    global const float* restrict values, ulong first, ulong stride, uint q_rows, uint t_rows,
    global const float* restrict low, global const float* restrict theta_of, ulong theta_first,
    ulong theta_stride, uint first_row, global uint* restrict rows, ulong rows_first, ulong rows_stride,
    uint capacity, global uint* restrict counts, ulong counts_first, ulong counts_stride, uint chunk) {
  const ulong q = get_global_id(1);
  global const float* row = values + first + q * stride;
  const float theta = theta_of[theta_first + q * theta_stride];
  global uint* list = rows + rows_first + q * rows_stride;
  global uint* count = counts + counts_first + q * counts_stride;
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
    const int16 near = inside & ~(least - value > (float16)(theta));
#else
    const int16 near = inside & (value <= (float16)(theta));
#endif
    if (any(near)) append(near, first_row + (uint)t, list, capacity, count);
  }
}
