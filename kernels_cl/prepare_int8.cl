// prepare, int8: rows as scaled bytes, and what is known of them.
//
//   rows    [r, dims]   blocks of 32 rows
//   centre  [dims]
//   out     [r, dims]   x~ = byte / scale, byte the nearest whole number to scale (x - c) from -127 to 127;
//                       padded with zeros to whole blocks of 128 rows and `pieces` pieces of 16 bytes. A
//                       block has slabs of PIECES pieces (-D, 2, 4 or 8), in which a row is a line of pieces
//                       in an order of its own (place_of()); `first` in pieces
//   facts   [4, r]      half_norm, norm, shadow_norm, residual of each row, stride in elements
//
// Work-group b of 256 items takes rows 32 b ... of the shadow, an item a piece of a row at a time, with
// neighbouring items on neighbouring rows. Eight items share the sums of a row. Work: r * dims steps, each
// float read once, a quarter as many bytes written. docs/certificate.md, section 2.
#include "prepare_shadow.cl"

// Where piece p of row r stands in a block. The same piece of 8 neighbouring rows never meets in a bank of
// local memory.
uint place_of(uint r, uint p) {
  const uint turn = r * PIECES / 8 % PIECES;
  return (p / PIECES * SHADOW_ROWS + r) * PIECES + (p % PIECES ^ turn);
}

kernel __attribute__((reqd_work_group_size(BLOCK * PARTS, 1, 1))) void kith_prepare_int8(
    global const float* restrict rows, uint r_first, uint r_rows, uint dims,
    global const float* restrict centre, ulong centre_first, float scale, global uint4* restrict out,
    ulong out_first, uint pieces, global float* restrict facts, ulong facts_first, ulong facts_stride) {
  local double sums[3 * PARTS * BLOCK];
  const uint lid = (uint)get_local_id(0), x = lid % BLOCK, y = lid / BLOCK;
  const uint i = (uint)get_group_id(0) * BLOCK + x, r = r_first + i;  // row of the shadow, and of the memory
  const bool mine = i < r_rows;
  global const float* from = rows + (size_t)(r / BLOCK) * dims * BLOCK + r % BLOCK;
  const double unscale = 1.0 / (double)scale;
  centre += centre_first;
  out += out_first + (size_t)(i / SHADOW_ROWS * SHADOW_ROWS) * pieces;

  double moved = 0, shadow = 0, residual = 0;
  for (uint p = y; p < pieces; p += PARTS) {
    uint words[4] = {0, 0, 0, 0};
#pragma unroll
    for (uint j = 0; j < 16; ++j) {
      const uint d = 16 * p + j;
      if (!mine || d >= dims) continue;
      const float a = from[(size_t)d * BLOCK], c = centre[d];
      const int byte = convert_int_rte(clamp((a - c) * scale, -127.0f, 127.0f));
      const double exact = (double)a - (double)c, near = (double)byte * unscale;
      moved += exact * exact;
      shadow += near * near;
      residual += (exact - near) * (exact - near);
      words[j / 4] |= ((uint)byte & 0xFF) << j % 4 * 8;
    }
    out[place_of(i % SHADOW_ROWS, p)] = (uint4)(words[0], words[1], words[2], words[3]);
  }

  sums[lid] = moved;
  sums[PARTS * BLOCK + lid] = shadow;
  sums[2 * PARTS * BLOCK + lid] = residual;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (y != 0 || !mine) return;
  // One over the scale was rounded to double, and so was each product with it.
  write_facts(facts + facts_first + i, facts_stride, sum_of_row(sums, x), sum_of_row(sums + PARTS * BLOCK, x),
              sum_of_row(sums + 2 * PARTS * BLOCK, x), dims, 0x1p-50);
}
