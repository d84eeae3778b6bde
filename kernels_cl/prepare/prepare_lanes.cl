// prepare, for CPU devices: computes quantized rows, x~ = fl(x - c), and four row terms of each, which
// are bounds.
//
//   rows       [r, dims]   blocks of LANES rows
//   centre     [dims]
//   out        [r, dims]   kith_prepare_lanes: row-major, stride in elements; kith_prepare_dot_lanes: blocks
//                          of LANES rows
//   row_terms  [4, r]      half_norm, norm, quantized_norm, residual of each row, stride in elements
//
// Each lane handles one row. Work: r * dims steps; each float is read once and written once.
// No twin in kernels_cuda: CUDA has no CPU devices.
#include "prepare/quantized_rows.cl"

#define STEP 16

// Writes the terms of the rows in lanes begin ... end - 1; `to` belongs to lane 0.
void store_lanes(global float* to, ulong stride, uint begin, uint end, SUMS moved, SUMS quantized,
                 SUMS residual, uint dims) {
  for (uint lane = begin; lane < end; ++lane) {
    store_row_terms(to + lane, stride, 0, ((const Sum*)&moved)[lane], dims);
    store_row_terms(to + lane, stride, 1, ((const Sum*)&quantized)[lane], dims);
    store_row_terms(to + lane, stride, 2, ((const Sum*)&residual)[lane], dims);
  }
}

// Work-item b handles block b of the rows, and transposes STEP dimensions at a time.
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kith_prepare_lanes(
    global const float* restrict rows, uint r_first, uint r_rows, uint dims,
    global const float* restrict centre, ulong centre_first, global float* restrict out, Place out_at,
    global float* restrict row_terms, Place row_terms_at) {
  const uint block = r_first / LANES + (uint)get_global_id(0);
  global const float* from = rows + (size_t)block * dims * LANES;
  centre += centre_first;
  const uint r0 = block * LANES;  // row of lane 0; only lanes begin ... end - 1 are written
  const uint begin = max(r0, r_first) - r0, end = min(r0 + LANES, r_first + r_rows) - r0;

  SUMS moved = 0, quantized = 0, residual = 0;
  for (uint d0 = 0; d0 < dims; d0 += STEP) {
    const uint many = min((uint)STEP, dims - d0);
    LANE turned[STEP];
    for (uint i = 0; i < many; ++i) {
      LANE x = *(global const LANE*)(from + (size_t)(d0 + i) * LANES);
      turned[i] = quantized_of(x, centre[d0 + i], &moved, &quantized, &residual);
    }
    for (uint lane = begin; lane < end; ++lane) {
      global float* to = out + out_at.first + (r0 + lane - r_first) * out_at.stride + d0;
      for (uint i = 0; i < many; ++i) to[i] = ((const float*)&turned[i])[lane];
    }
  }
  store_lanes(row_terms + row_terms_at.first + ((long)r0 - r_first), row_terms_at.stride, begin, end, moved,
              quantized, residual, dims);
}

// Work-item b handles block b of the quantized rows. This is a block of the rows, or, if `r_first` is not a
// multiple of LANES, rows of two blocks, read one by one. The last block is padded with copies of padding, or
// of the last row.
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kith_prepare_dot_lanes(
    global const float* restrict rows, uint r_first, uint r_rows, uint dims,
    global const float* restrict centre, ulong centre_first, global float* restrict out, ulong out_first,
    global float* restrict row_terms, Place row_terms_at) {
  const uint i0 = (uint)get_global_id(0) * LANES;
  size_t at[LANES];
  for (uint lane = 0; lane < LANES; ++lane) {
    const uint r = r_first + min(i0 + lane, r_rows - 1);
    at[lane] = (size_t)(r / LANES) * dims * LANES + r % LANES;
  }
  global float* to = out + (out_first + i0) * dims;
  centre += centre_first;

  SUMS moved = 0, quantized = 0, residual = 0;
  for (uint d = 0; d < dims; ++d) {
    const size_t of_dimension = (size_t)d * LANES;
    LANE x;
    if (r_first % LANES == 0)
      x = *(global const LANE*)(rows + at[0] + of_dimension);
    else
      for (uint lane = 0; lane < LANES; ++lane) ((float*)&x)[lane] = rows[at[lane] + of_dimension];
    *(global LANE*)(to + of_dimension) = quantized_of(x, centre[d], &moved, &quantized, &residual);
  }
  store_lanes(row_terms + row_terms_at.first + i0, row_terms_at.stride, 0, min((uint)LANES, r_rows - i0),
              moved, quantized, residual, dims);
}
