// prepare, fp16: rows as scaled 16-bit floats, and what is known of them.
//
//   rows    [r, dims]   blocks of 32 rows
//   centre  [dims]
//   out     [r, dims]   x~ = half(scale (x - c)) / scale; padded with zeros to whole blocks of 128 rows and
//                       `columns` dimensions. A block has slabs of LINE dimensions (-D, 16, 32 or 64), in
//                       which a row is a line of pieces of 8 halves in an order of its own (place_of())
//   facts   [4, r]      half_norm, norm, shadow_norm, residual of each row, stride in elements
//
// Rows of up to 4 dimensions are split, x~ = (high + low) / scale, and an item makes a row. Of others
// work-group b of 256 items takes rows 32 b ... of the shadow, 32 dimensions at a time: it reads with
// neighbouring items on neighbouring rows, and writes with neighbouring items on neighbouring dimensions.
// Eight items share the sums of a row. Work: r * dims steps, each float read once, half as many bytes
// written. Only for devices with double precision. docs/certificate.md, section 2.
#include "prepare_shadow.cl"

#define PITCH (BLOCK + 2)  // halves
#define MOST_SPLIT_DIMS 4  // as in spi.hpp

// Where dimension d of row r stands in a block. The same piece of 8 neighbouring rows never meets in a bank
// of local memory.
uint place_of(uint r, uint d) {
  const uint turn = r * LINE / 64 % (LINE / 8);
  return d / LINE * (SHADOW_ROWS * LINE) + r * LINE + ((d % LINE / 8) ^ turn) * 8 + d % 8;
}

kernel __attribute__((reqd_work_group_size(BLOCK * PARTS, 1, 1))) void kith_prepare_fp16(
    global const float* restrict rows, uint r_first, uint r_rows, uint dims,
    global const float* restrict centre, ulong centre_first, float scale, global ushort* restrict out,
    ulong out_first, uint columns, global float* restrict facts, ulong facts_first, ulong facts_stride) {
  local ushort tile[BLOCK * PITCH];  // [row, dimension]
  local double sums[3 * PARTS * BLOCK];
  const uint lid = (uint)get_local_id(0), x = lid % BLOCK, y = lid / BLOCK;
  const uint i0 = (uint)get_group_id(0) * BLOCK;  // row of the shadow
  const uint r = r_first + i0 + x;                // row of the memory
  const bool mine = i0 + x < r_rows;
  global const float* from = rows + (size_t)(r / BLOCK) * dims * BLOCK + r % BLOCK;
  const double unscale = 1.0 / (double)scale;
  centre += centre_first;
  out += out_first + (size_t)(i0 / SHADOW_ROWS * SHADOW_ROWS) * columns;

  double moved = 0, shadow = 0, residual = 0;  // of row x
  for (uint d0 = 0; d0 < columns; d0 += BLOCK) {
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
    for (uint i = y; i < BLOCK && d0 + x < columns; i += PARTS)
      out[place_of(i0 % SHADOW_ROWS + i, d0 + x)] = tile[i * PITCH + x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  sums[lid] = moved;
  sums[PARTS * BLOCK + lid] = shadow;
  sums[2 * PARTS * BLOCK + lid] = residual;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (y != 0 || !mine) return;
  write_facts(facts + facts_first + i0 + x, facts_stride, sum_of_row(sums, x),
              sum_of_row(sums + PARTS * BLOCK, x), sum_of_row(sums + 2 * PARTS * BLOCK, x), dims, 0);
}

// Work-group b takes rows 128 b ... of the shadow, an item a row. A number v has four columns: with
// high = half(v) and low = half(v - high) these are high, low, high, low of a training row and high, high,
// low, low of a query, so that the product of the lines is that of the sums of both parts.
kernel __attribute__((reqd_work_group_size(SHADOW_ROWS, 1, 1))) void kith_prepare_fp16_split(
    global const float* restrict rows, uint r_first, uint r_rows, uint dims,
    global const float* restrict centre, ulong centre_first, float scale, uint of_queries,
    global ushort* restrict out, ulong out_first, global float* restrict facts, ulong facts_first,
    ulong facts_stride) {
  const uint i = (uint)get_global_id(0), r = r_first + i;  // row of the shadow, and of the memory
  const bool mine = i < r_rows;
  global const float* from = rows + (size_t)(r / BLOCK) * dims * BLOCK + r % BLOCK;
  const double unscale = 1.0 / (double)scale;
  ushort parts[2];
  uint columns[2 * MOST_SPLIT_DIMS];  // two in each
  double moved = 0, shadow = 0, residual = 0;
#pragma unroll
  for (uint d = 0; d < MOST_SPLIT_DIMS; ++d) {
    columns[2 * d] = columns[2 * d + 1] = 0;
    if (!mine || d >= dims) continue;
    const float a = from[d * BLOCK], c = centre[centre_first + d], value = (a - c) * scale;
    vstore_half_rte(value, 0, (half*)parts);
    const float high = vload_half(0, (const half*)parts);
    vstore_half_rte(value - high, 1, (half*)parts);
    const double exact = (double)a - (double)c;
    const double near = ((double)high + (double)vload_half(1, (const half*)parts)) * unscale;
    moved += exact * exact;
    shadow += near * near;
    residual += (exact - near) * (exact - near);
    const uint both = parts[0] | (uint)parts[1] << 16;
    columns[2 * d] = of_queries ? parts[0] * 0x10001u : both;
    columns[2 * d + 1] = of_queries ? parts[1] * 0x10001u : both;
  }
  out += out_first + (size_t)(i / SHADOW_ROWS * SHADOW_ROWS) * (4 * MOST_SPLIT_DIMS);
#pragma unroll
  for (uint p = 0; p < MOST_SPLIT_DIMS / 2; ++p)
    *(global uint4*)(out + place_of(i % SHADOW_ROWS, 8 * p)) =
        (uint4)(columns[4 * p], columns[4 * p + 1], columns[4 * p + 2], columns[4 * p + 3]);
  if (mine) write_facts(facts + facts_first + i, facts_stride, moved, shadow, residual, dims, 0);
}
