// prepare: computes quantized rows, x~ = fl(x - c), and four row terms of each, which are bounds.
//
//   rows       [r, dims]   blocks of 32 rows
//   centre     [dims]
//   out        [r, dims]   kith_prepare: row-major, stride in elements; kith_prepare_dot: blocks of 32 rows
//   row_terms  [4, r]      half_norm, norm, quantized_norm, residual of each row, stride in elements
//
// Eight items of a work-group of 256 share the sums of a row. Work: r * dims steps; each float is read once
// and written once.
#include "kith/spi/kernel_limits.def"
#include "prepare/quantized_rows.cl"

#define BLOCK KITH_ROWS_A_BLOCK
#define PARTS 8  // items per row
#define PITCH (BLOCK + 1)

// Adds the sums that the PARTS items of row x have computed, and writes the row terms if `wanted`. All
// work-items call this. sums [3, PARTS, BLOCK]
void share_sums(local Sum* sums, Sum moved, Sum quantized, Sum residual, bool wanted, global float* row_terms,
                ulong stride, uint dims) {
  const uint lid = (uint)get_local_id(0), x = lid % BLOCK, y = lid / BLOCK;
  sums[lid] = moved;
  sums[PARTS * BLOCK + lid] = quantized;
  sums[2 * PARTS * BLOCK + lid] = residual;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (y >= 3 || !wanted) return;
  Sum sum = 0;
  for (uint i = 0; i < PARTS; ++i) sum += sums[(y * PARTS + i) * BLOCK + x];
  store_row_terms(row_terms, stride, y, sum, dims);
}

// Work-group b handles block b of the rows, 32 dimensions at a time: neighbouring items read neighbouring
// rows, and write neighbouring dimensions.
kernel __attribute__((reqd_work_group_size(BLOCK * PARTS, 1, 1))) void kith_prepare(
    global const float* restrict rows, uint r_first, uint r_rows, uint dims,
    global const float* restrict centre, ulong centre_first, global float* restrict out, Place out_at,
    global float* restrict row_terms, Place row_terms_at) {
  local float tile[BLOCK * PITCH];  // [dimension, row]
  local Sum sums[3 * PARTS * BLOCK];
  const uint lid = (uint)get_local_id(0), x = lid % BLOCK, y = lid / BLOCK;
  const uint block = r_first / BLOCK + (uint)get_group_id(0);
  global const float* from = rows + (size_t)block * dims * BLOCK;
  centre += centre_first;

  Sum moved = 0, quantized = 0, residual = 0;  // sums of row x
  for (uint d0 = 0; d0 < dims; d0 += BLOCK) {
    for (uint i = y; i < BLOCK; i += PARTS) {
      const uint d = d0 + i;
      if (d >= dims) break;
      tile[i * PITCH + x] =
          quantized_of(from[(size_t)d * BLOCK + x], centre[d], &moved, &quantized, &residual);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint d = d0 + x;
    for (uint i = y; i < BLOCK && d < dims; i += PARTS) {
      const uint r = block * BLOCK + i;
      if (r >= r_first && r < r_first + r_rows)
        out[out_at.first + (r - r_first) * out_at.stride + d] = tile[x * PITCH + i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const uint r = block * BLOCK + x;
  share_sums(sums, moved, quantized, residual, r >= r_first && r < r_first + r_rows,
             row_terms + row_terms_at.first + ((size_t)r - r_first), row_terms_at.stride, dims);
}

// Work-group b handles block b of the quantized rows; neighbouring items handle neighbouring rows. If
// `r_first` is not a multiple of 32, a block of quantized rows comes from two blocks of rows. The last block
// is padded with copies of the last row.
kernel __attribute__((reqd_work_group_size(BLOCK * PARTS, 1, 1))) void kith_prepare_dot(
    global const float* restrict rows, uint r_first, uint r_rows, uint dims,
    global const float* restrict centre, ulong centre_first, global float* restrict out, ulong out_first,
    global float* restrict row_terms, Place row_terms_at) {
  local Sum sums[3 * PARTS * BLOCK];
  const uint lid = (uint)get_local_id(0), x = lid % BLOCK, y = lid / BLOCK;
  const uint i = (uint)get_group_id(0) * BLOCK + x, r = r_first + min(i, r_rows - 1);
  global const float* from = rows + (size_t)(r / BLOCK) * dims * BLOCK + r % BLOCK;
  global float* to = out + out_first * dims + (size_t)get_group_id(0) * dims * BLOCK + x;
  centre += centre_first;

  Sum moved = 0, quantized = 0, residual = 0;  // sums of row x
  for (uint d = y; d < dims; d += PARTS) {
    const size_t at = (size_t)d * BLOCK;
    to[at] = quantized_of(from[at], centre[d], &moved, &quantized, &residual);
  }
  share_sums(sums, moved, quantized, residual, i < r_rows, row_terms + row_terms_at.first + i,
             row_terms_at.stride, dims);
}
