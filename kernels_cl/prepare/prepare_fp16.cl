// prepare, fp16: converts rows into scaled 16-bit floats, and computes their row terms.
//
//   rows       [r, dims]   blocks of 32 rows
//   centre     [dims]
//   out        [r, dims]   x~ = half(scale (x - c)) / scale; padded with zeros to whole blocks of 128 rows
//                          and `columns` dimensions. A block has slabs of LINE dimensions (-D, 16, 32 or 64).
//                          The line of a row in a slab is its pieces of 8 halves, in the order of place_of()
//   row_terms  [4, r]      half_norm, norm, quantized_norm, residual of each row, stride in elements
//   copy       [r, dims]   a copy of the rows, row-major; none if its stride is 0
//
// Rows of up to 4 dimensions are split, x~ = (high + low) / scale, and one item makes a row. For other rows,
// work-group b of 256 items handles quantized rows from 32 b on, 64 dimensions at a time, which are
// transposed in local memory; eight items share the sums of a row.
// Work: r * dims steps; each float is read once, and half as many bytes are written; with a copy, one and a
// half times as many. Only for devices with double precision. docs/certificate.md, section 2.
#include "kith/spi/product_error.def"
#include "prepare/prepare_quantized.cl"

// Returns the place of dimension d of row r in a block. The same piece of 8 neighbouring rows is in different
// banks of local memory.
uint place_of(uint r, uint d) {
  const uint turn = r * LINE / 64 % (LINE / 8);
  return d / LINE * (QUANTIZED_BLOCK_ROWS * LINE) + r * LINE + ((d % LINE / 8) ^ turn) * 8 + d % 8;
}

// Returns the size as which tensor cores align a half.
float aligned_size(float half_value) {
  return fmax(fabs(half_value), (float)KITH_LEAST_ALIGNED_HALF);
}

// Returns the bits of x - c as a scaled half, and adds its squares to `sums`.
ushort half_of(float x, float c, float scale, float unscale, Squares* sums) {
  ushort bits;
  vstore_half_rte((x - c) * scale, 0, (half*)&bits);
  // The scale is a power of two, so that the products are exact.
  const float near = vload_half(0, (const half*)&bits);
  *sums = add_squares(*sums, (double)x - (double)c, (double)(near * unscale),
                      (double)(aligned_size(near) * unscale));
  return bits;
}

kernel __attribute__((reqd_work_group_size(BLOCK * PARTS, 1, 1))) void kith_prepare_fp16(
    global const float* restrict rows, uint r_first, uint r_rows, uint dims,
    global const float* restrict centre, ulong centre_first, float scale, global ushort* restrict out,
    ulong out_first, uint columns, global float* restrict row_terms, Place row_terms_at,
    global float* restrict copy, Place copy_at) {
  local float tile[STEP * PITCH];
  local double shared[3 * PARTS * BLOCK];
  const Item item = item_of(rows, r_first, r_rows, dims);
  const float unscale = 1.0f / scale;
  const bool whole = dims % 4 == 0 && copy_at.first % 4 == 0 && copy_at.stride % 4 == 0;
  centre += centre_first;
  copy += copy_at.first + (item.i0 + item.row) * copy_at.stride;
  out += out_first + (size_t)(item.i0 / QUANTIZED_BLOCK_ROWS * QUANTIZED_BLOCK_ROWS) * columns;

  Squares sums = {0, 0, 0};
  for (uint d0 = 0; d0 < columns; d0 += STEP) {
    read_tile(tile, item.from, item.reads, d0, dims);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint part = 0; part < STEP; part += 4 * PARTS) {
      const uint at = part + item.part * 4, d = d0 + at;
      if (d >= columns) continue;
      const float4 x = four_of_tile(tile, at), c = item.mine ? four_of(centre, d, dims) : (float4)(0.0f);
      if (item.mine && copy_at.stride > 0) put_four(copy, d, dims, x, whole);
      *(global ushort4*)(out + place_of(item.i0 % QUANTIZED_BLOCK_ROWS + item.row, d)) =
          (ushort4)(half_of(x.x, c.x, scale, unscale, &sums), half_of(x.y, c.y, scale, unscale, &sums),
                    half_of(x.z, c.z, scale, unscale, &sums), half_of(x.w, c.w, scale, unscale, &sums));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  share_row_terms(shared, sums, row_terms + row_terms_at.first + item.i0, row_terms_at.stride,
                  rows_left(item, r_rows), dims, 0, false);
}

// Work-group b handles quantized rows from 128 b on, one per item. A number v has four columns. With high =
// half(v) and low = half(v - high), these are high, low, high, low in a training row, and high, high, low,
// low in a query, so that the product of two lines is the product of the sums of both parts.
kernel __attribute__((reqd_work_group_size(QUANTIZED_BLOCK_ROWS, 1, 1))) void kith_prepare_fp16_split(
    global const float* restrict rows, uint r_first, uint r_rows, uint dims,
    global const float* restrict centre, ulong centre_first, float scale, uint of_queries,
    global ushort* restrict out, ulong out_first, global float* restrict row_terms, Place row_terms_at,
    global float* restrict copy, Place copy_at) {
  const uint i = (uint)get_global_id(0), r = r_first + i;  // rows of the quantized rows, and of the memory
  const bool mine = i < r_rows;
  global const float* from = rows + (size_t)(r / BLOCK) * dims * BLOCK + r % BLOCK;
  const double unscale = 1.0 / (double)scale;
  ushort parts[2];
  uint columns[2 * KITH_MOST_SPLIT_DIMS];  // each element has two columns
  Squares sums = {0, 0, 0};
#pragma unroll
  for (uint d = 0; d < KITH_MOST_SPLIT_DIMS; ++d) {
    columns[2 * d] = columns[2 * d + 1] = 0;
    if (!mine) continue;
    const bool some = d < dims;
    const float a = some ? from[d * BLOCK] : 0.0f, c = some ? centre[centre_first + d] : 0.0f,
                value = (a - c) * scale;
    if (some && copy_at.stride > 0) copy[copy_at.first + i * copy_at.stride + d] = a;
    vstore_half_rte(value, 0, (half*)parts);
    const float high = vload_half(0, (const half*)parts);
    vstore_half_rte(value - high, 1, (half*)parts);
    const float low = vload_half(1, (const half*)parts);
    sums = add_squares(sums, (double)a - (double)c, ((double)high + (double)low) * unscale,
                       ((double)aligned_size(high) + (double)aligned_size(low)) * unscale);
    const uint both = parts[0] | (uint)parts[1] << 16;
    columns[2 * d] = of_queries ? parts[0] * 0x10001u : both;
    columns[2 * d + 1] = of_queries ? parts[1] * 0x10001u : both;
  }
  out += out_first + (size_t)(i / QUANTIZED_BLOCK_ROWS * QUANTIZED_BLOCK_ROWS) * (4 * KITH_MOST_SPLIT_DIMS);
#pragma unroll
  for (uint p = 0; p < KITH_MOST_SPLIT_DIMS / 2; ++p)
    *(global uint4*)(out + place_of(i % QUANTIZED_BLOCK_ROWS, 8 * p)) =
        (uint4)(columns[4 * p], columns[4 * p + 1], columns[4 * p + 2], columns[4 * p + 3]);
  if (mine)
    write_row_terms(row_terms + row_terms_at.first + i, row_terms_at.stride, sums.moved, sums.quantized,
                    sums.residual, dims, 0, false);
}
