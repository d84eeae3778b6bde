// prepare, int8 and int4: converts rows into scaled bytes or half bytes, and computes their row terms.
//
//   rows       [r, dims]   blocks of 32 rows
//   centre     [dims]
//   out        [r, dims]   x~ = byte / scale, where byte is the whole number nearest to scale (x - c), from
//                          `least` to 127; padded with zeros to whole blocks of 128 rows and `pieces` pieces
//                          of 16 bytes. A block has slabs of PIECES pieces (-D, 2, 4 or 8). The line of a row
//                          in a slab is its pieces, in the order of place_of(). `first` is in pieces
//   row_terms  [4, r]      half_norm, norm, quantized_norm, residual of each row, stride in elements
//   copy       [r, dims]   a copy of the rows, row-major; none if its stride is 0
//   least, most   -127, or -128 for rows on a grid, and 127; for half bytes -7 and 7
//   exact      1 if c + byte / scale is computed without rounding, so that rows are found to be on the grid
//              or not
//
// Compiled with -D HALF_BYTES for int4: `scale` is then for half bytes, and a piece has 32 dimensions. Its
// word 2 h + w has dimensions 16 h + 4 w ... 16 h + 4 w + 3 in the lower halves of its bytes, and those 8
// further in the upper halves. Work-group b of 256 items handles quantized rows from 32 b on, 64 dimensions
// at a time, which are transposed in local memory; eight items share the sums of a row. Work: r * dims steps;
// each float is read once, and a quarter as many bytes are written; with a copy, one and a quarter times as
// many. docs/certificate.md, section 2.
#include "prepare/byte_lines.cl"
#include "prepare/prepare_quantized.cl"

// How numbers are converted to bytes.
typedef struct {
  float scale, least, most;
  double unscale;
  bool exact;
} ByteForm;

// Returns the byte of x - c in the low bits, and adds its squares to `sums`.
uint byte_of(float x, float c, ByteForm form, Squares* sums) {
  const int byte = convert_int_rte(clamp((x - c) * form.scale, form.least, form.most));
  const double quantized = (double)byte * form.unscale;
  if (form.exact)
    *sums = add_exact_squares(*sums, (double)x, (double)c, quantized);
  else
    *sums = add_squares(*sums, (double)x - (double)c, quantized, quantized);
  return (uint)byte & 0xFF;
}

// Converts dimensions d ... d + 3, which are at `at` in the tile, and copies them.
uint four_bytes(local float* tile, uint at, uint d, uint dims, global const float* centre, Item item,
                global float* copy, ulong copy_stride, bool whole, ByteForm form, Squares* sums) {
  const float4 x = four_of_tile(tile, at), c = item.mine ? four_of(centre, d, dims) : (float4)(0.0f);
  if (item.mine && copy_stride > 0) put_four(copy, d, dims, x, whole);
  return byte_of(x.x, c.x, form, sums) | byte_of(x.y, c.y, form, sums) << 8 |
         byte_of(x.z, c.z, form, sums) << 16 | byte_of(x.w, c.w, form, sums) << 24;
}

#ifdef HALF_BYTES
#define PIECE_DIMS 32
#else
#define PIECE_DIMS 16
#endif

kernel __attribute__((reqd_work_group_size(BLOCK * PARTS, 1, 1))) void kith_prepare_int8(
    global const float* restrict rows, uint r_first, uint r_rows, uint dims,
    global const float* restrict centre, ulong centre_first, float scale, global uint* restrict out,
    ulong out_first, uint pieces, global float* restrict row_terms, Place row_terms_at,
    global float* restrict copy, Place copy_at, float least, float most, uint exact) {
  local float tile[STEP * PITCH];
  local double shared[3 * PARTS * BLOCK];
  const Item item = item_of(rows, r_first, r_rows, dims);
  const ByteForm form = {scale, least, most, 1.0 / (double)scale, exact != 0};
  const bool whole = dims % 4 == 0 && copy_at.first % 4 == 0 && copy_at.stride % 4 == 0;
  centre += centre_first;
  copy += copy_at.first + (item.i0 + item.row) * copy_at.stride;
  out += 4 * (out_first + (size_t)(item.i0 / QUANTIZED_BLOCK_ROWS * QUANTIZED_BLOCK_ROWS) * pieces);

  Squares sums = {0, 0, 0};
  const uint row = item.i0 % QUANTIZED_BLOCK_ROWS + item.row;
  for (uint d0 = 0; d0 < PIECE_DIMS * pieces; d0 += STEP) {
    read_tile(tile, item.from, item.reads, d0, dims);
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef HALF_BYTES
    const uint at = item.part / 2 * 16 + item.part % 2 * 4, d = d0 + at;
    const uint low = four_bytes(tile, at, d, dims, centre, item, copy, copy_at.stride, whole, form, &sums),
               high = four_bytes(tile, at + 8, d + 8, dims, centre, item, copy, copy_at.stride, whole, form,
                                 &sums);
    out[4 * place_of(row, d / 32) + d / 16 % 2 * 2 + d / 4 % 2] = (low & 0x0F0F0F0F) | (high & 0x0F0F0F0F)
                                                                                           << 4;
#else
#pragma unroll
    for (uint part = 0; part < STEP; part += 4 * PARTS) {
      const uint at = part + item.part * 4, d = d0 + at;
      if (d >= 16 * pieces) continue;
      out[4 * place_of(row, d / 16) + d / 4 % 4] =
          four_bytes(tile, at, d, dims, centre, item, copy, copy_at.stride, whole, form, &sums);
    }
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  // Both 1 / scale and each product with it are rounded to double.
  share_row_terms(shared, sums, row_terms + row_terms_at.first + item.i0, row_terms_at.stride,
                  rows_left(item, r_rows), dims, 0x1p-50, form.exact);
}
