// unit: divides rows in blocks by their norms, in place. Only for devices with double precision.
//
//   rows   [blocks, dims, BLOCK]  transposed; the padding of the last block does not change
//   found  [2]                    the largest |value| of a unit row as bits, and the first row that is
//                                 all zeros
//
// Sum, root and quotients are doubles, each rounded once to nearest; squares of floats are exact in double.
// One work-item handles one row, so that neighbouring items read neighbouring values.
// Work: each value is read twice and written once. Two barriers. Local memory: 8 bytes.
#include "common/common.cl"

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define GROUP 64

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_unit(global float* rows, ulong first,
                                                                         uint count, uint dims,
                                                                         global uint* found,
                                                                         ulong found_first, uint first_row) {
  local uint seen[2];
  const size_t r = get_global_id(0);
  const bool leads = get_local_id(0) == 0;
  if (leads) {
    seen[0] = 0;
    seen[1] = NO_ROW;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (r < count) {
    global float* const row = rows + first + r / BLOCK * BLOCK * dims + r % BLOCK;
    double sum = 0;
    for (uint d = 0; d < dims; ++d) {
      const double value = row[(size_t)d * BLOCK];
      sum = sum + value * value;
    }
    const double norm = sqrt(sum);
    uint largest = 0;
    for (uint d = 0; d < dims; ++d) {
      const float value = convert_float_rte((double)row[(size_t)d * BLOCK] / norm);
      row[(size_t)d * BLOCK] = value;
      largest = max(largest, as_uint(value) & 0x7FFFFFFFu);
    }
    if (norm > 0)
      atomic_max(&seen[0], largest);
    else
      atomic_min(&seen[1], first_row + (uint)r);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (leads && seen[0] > 0) atomic_max(found + found_first, seen[0]);
  if (leads && seen[1] != NO_ROW) atomic_min(found + found_first + 1, seen[1]);
}
