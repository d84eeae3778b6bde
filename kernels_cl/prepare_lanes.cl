// prepare, for CPU devices: the shadow of rows, x~ = fl(x - c), and four bounds on each of them.
//
//   rows    [r, dims]   blocks of LANES rows
//   centre  [dims]
//   out     [r, dims]   row-major, stride in elements
//   facts   [4, r]      half_norm, norm, shadow_norm, residual of each row, stride in elements
//
// Work-item b takes block b: a lane is a row, and STEP dimensions are turned around at a time.
// Work: r * dims steps, each float read once and written once.
#include "shadow.cl"

#define STEP 16

kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kith_prepare_lanes(
    global const float* restrict rows, uint r_first, uint r_rows, uint dims,
    global const float* restrict centre, ulong centre_first, global float* restrict out, ulong out_first,
    ulong out_stride, global float* restrict facts, ulong facts_first, ulong facts_stride) {
  const uint block = r_first / LANES + (uint)get_global_id(0);
  global const float* from = rows + (size_t)block * dims * LANES;
  centre += centre_first;
  const uint r0 = block * LANES;  // row of lane 0; the lanes begin ... end - 1 are meant
  const uint begin = max(r0, r_first) - r0, end = min(r0 + LANES, r_first + r_rows) - r0;

  SUMS moved = 0, shadow = 0, residual = 0;
  for (uint d0 = 0; d0 < dims; d0 += STEP) {
    const uint many = min((uint)STEP, dims - d0);
    LANE turned[STEP];
    for (uint i = 0; i < many; ++i) {
      LANE x = *(global const LANE*)(from + (size_t)(d0 + i) * LANES);
      turned[i] = shadow_of(x, centre[d0 + i], &moved, &shadow, &residual);
    }
    for (uint lane = begin; lane < end; ++lane) {
      global float* to = out + out_first + (r0 + lane - r_first) * out_stride + d0;
      for (uint i = 0; i < many; ++i) to[i] = ((const float*)&turned[i])[lane];
    }
  }
  for (uint lane = begin; lane < end; ++lane) {
    global float* to = facts + facts_first + (r0 + lane - r_first);
    store_facts(to, facts_stride, 0, ((const Sum*)&moved)[lane], dims);
    store_facts(to, facts_stride, 1, ((const Sum*)&shadow)[lane], dims);
    store_facts(to, facts_stride, 2, ((const Sum*)&residual)[lane], dims);
  }
}
