// prepare, fp16: rows as scaled 16-bit floats, and what is known of them.
//
//   rows    [r, dims]   blocks of 32 rows
//   centre  [dims]
//   out     [r, dims]   row-major, `pitch` halves from row to row: x~ = half(scale (x - c)) / scale; padded
//   with
//                       zeros to 128 rows and 32 dimensions
//   facts   [4, r]      half_norm, norm, shadow_norm, residual of each row, stride in elements
//
// Work-group b of 256 items takes rows 32 b ... of the shadow, 32 dimensions at a time: it reads with
// neighbouring items on neighbouring rows, and writes with neighbouring items on neighbouring dimensions.
// Eight items share the sums of a row. Work: r * dims steps, each float read once, half as many bytes
// written. Only for devices with double precision. docs/certificate.md, section 2.
#include "bounds.cl"

#define BLOCK 32
#define PARTS 8            // items a row
#define PITCH (BLOCK + 2)  // halves

// Rows of the facts, as in spi.hpp.
#define HALF_NORM 0
#define NORM 1
#define SHADOW_NORM 2
#define RESIDUAL 3

double sum_of_row(local const double* sums, uint x) {
  double sum = 0;
  for (uint i = 0; i < PARTS; ++i) sum += sums[i * BLOCK + x];
  return sum;
}

kernel __attribute__((reqd_work_group_size(BLOCK * PARTS, 1, 1))) void kith_prepare_fp16(
    global const float* restrict rows, uint r_first, uint r_rows, uint dims,
    global const float* restrict centre, ulong centre_first, float scale, global ushort* restrict out,
    ulong out_first, uint pitch, global float* restrict facts, ulong facts_first, ulong facts_stride) {
  local ushort tile[BLOCK * PITCH];  // [row, dimension]
  local double sums[3 * PARTS * BLOCK];
  const uint lid = (uint)get_local_id(0), x = lid % BLOCK, y = lid / BLOCK;
  const uint i0 = (uint)get_group_id(0) * BLOCK;  // row of the shadow
  const uint r = r_first + i0 + x;                // row of the memory
  const bool mine = i0 + x < r_rows;
  global const float* from = rows + (size_t)(r / BLOCK) * dims * BLOCK + r % BLOCK;
  const double unscale = 1.0 / (double)scale;
  centre += centre_first;

  double moved = 0, shadow = 0, residual = 0;  // of row x
  for (uint d0 = 0; d0 < dims; d0 += BLOCK) {
    for (uint i = y; i < BLOCK; i += PARTS) {
      const uint d = d0 + i, at = x * PITCH + i;
      const bool inside = mine && d < dims;
      const float a = inside ? from[(size_t)d * BLOCK] : 0.0f, c = inside ? centre[d] : 0.0f;
      vstore_half_rte((a - c) * scale, at, (local half*)tile);
      const double exact = (double)a - (double)c;
      const double near = (double)vload_half(at, (local const half*)tile) * unscale;
      moved += exact * exact;
      shadow += near * near;
      residual += (exact - near) * (exact - near);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = y; i < BLOCK; i += PARTS)
      out[out_first + (size_t)(i0 + i) * pitch + d0 + x] = tile[i * PITCH + x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  sums[lid] = moved;
  sums[PARTS * BLOCK + lid] = shadow;
  sums[2 * PARTS * BLOCK + lid] = residual;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (y != 0 || !mine) return;
  facts += facts_first + i0 + x;
  const double all = sum_of_row(sums, x);
  const float norm = root_at_least(all, dims);
  facts[HALF_NORM * facts_stride] = half_at_most(all, dims);
  facts[NORM * facts_stride] = norm;
  facts[SHADOW_NORM * facts_stride] = root_at_least(sum_of_row(sums + PARTS * BLOCK, x), dims);
  // x - c was rounded to double, and so was its distance from the shadow.
  const float apart = root_at_least(sum_of_row(sums + 2 * PARTS * BLOCK, x), dims);
  facts[RESIDUAL * facts_stride] = round_up((double)apart + (double)norm * 0x1p-51);
}
