// What prepare_fp16.cl and prepare_int8.cl share: rows turned over and copied, and what is known of them.
// Only for devices with double precision. docs/certificate.md, section 2.
#include "bound/bounds.cl"
#include "kith/spi/kernel_limits.def"

#define BLOCK KITH_ROWS_A_BLOCK                         // rows of a work-group
#define PARTS 8                                         // items a row
#define QUANTIZED_BLOCK_ROWS KITH_QUANTIZED_BLOCK_ROWS  // of a block of the quantized rows

// Rows of the row terms, as in spi/candidates.hpp.
#define HALF_NORM 0
#define NORM 1
#define QUANTIZED_NORM 2
#define RESIDUAL 3

// From the sums of squares of x - c, of x~ and of x - c - x~.
//   inexact  at least the relative error that x~ has in double precision, at most 2^-50; 0 where it has none
//   exact    sums are those of add_exact_squares(): a residual of 0 is one
//   stride   0: half_norm is all that is wanted
void write_row_terms(global float* row_terms, ulong stride, double moved, double quantized, double residual,
                     uint dims, double inexact, bool exact) {
  const bool on_grid = exact && residual == 0;
  const float norm = root_at_least(moved, dims), quantized_norm = root_at_least(quantized, dims);
  row_terms[HALF_NORM * stride] = on_grid ? round_down(0.5 * moved) : half_at_most(moved, dims);
  if (stride == 0) return;
  row_terms[NORM * stride] = norm;
  row_terms[QUANTIZED_NORM * stride] = quantized_norm;
  // x - c was rounded to double, and so was its distance from the quantized rows.
  row_terms[RESIDUAL * stride] = on_grid
                                     ? 0.0f
                                     : round_up((double)root_at_least(residual, dims) +
                                                (double)norm * 0x1p-51 + (double)quantized_norm * inexact);
}

// Returns the sum of the PARTS numbers that the items of row x put into `sums`.
double sum_of_row(local const double* sums, uint x) {
  double sum = 0;
  for (uint i = 0; i < PARTS; ++i) sum += sums[i * BLOCK + x];
  return sum;
}

// Rows are read with neighbouring items on neighbouring rows, and turned over in local memory, so that then
// an item has four neighbouring dimensions of row lid / 8: what is read is whole lines, and so is what is
// written.
#define STEP 64            // dimensions
#define PITCH (BLOCK + 1)  // floats from dimension to dimension of a tile

// What a work-item does: it reads a column of the tile, and writes a part of row i0 + quantized row.
typedef struct {
  uint i0, row, part;        // the first row of the group; one in it; of its PARTS
  bool reads, mine;          // whether there is such a row to read, and to write
  global const float* from;  // where the row that it reads begins
} Item;

Item item_of(global const float* rows, uint r_first, uint r_rows, uint dims) {
  const uint lid = (uint)get_local_id(0), i0 = (uint)get_group_id(0) * BLOCK;
  const uint r = r_first + i0 + lid % BLOCK;
  const Item item = {i0,
                     lid / PARTS,
                     lid % PARTS,
                     i0 + lid % BLOCK < r_rows,
                     i0 + lid / PARTS < r_rows,
                     rows + (size_t)(r / BLOCK) * dims * BLOCK + r % BLOCK};
  return item;
}

uint rows_left(Item item, uint r_rows) {
  return item.i0 < r_rows ? r_rows - item.i0 : 0;
}

// Dimensions d0 ... d0 + 63 of row lid % 32, which begins at `from`, or zeros. A barrier must follow.
void read_tile(local float* tile, global const float* from, bool inside, uint d0, uint dims) {
  const uint x = (uint)get_local_id(0) % BLOCK, y = (uint)get_local_id(0) / BLOCK;
#pragma unroll
  for (uint i = y; i < STEP; i += PARTS)
    tile[i * PITCH + x] = inside && d0 + i < dims ? from[(size_t)(d0 + i) * BLOCK] : 0.0f;
}

// Dimensions d ... d + 3 of the tile, of row lid / 8.
float4 four_of_tile(local const float* tile, uint d) {
  tile += d * PITCH + (uint)get_local_id(0) / PARTS;
  return (float4)(tile[0], tile[PITCH], tile[2 * PITCH], tile[3 * PITCH]);
}

float4 four_of(global const float* row, uint d, uint dims) {
  return (float4)(d < dims ? row[d] : 0.0f, d + 1 < dims ? row[d + 1] : 0.0f,
                  d + 2 < dims ? row[d + 2] : 0.0f, d + 3 < dims ? row[d + 3] : 0.0f);
}

// `whole`: dims is a multiple of 4, and rows are aligned to as many.
void put_four(global float* row, uint d, uint dims, float4 x, bool whole) {
  if (whole) {
    if (d < dims) *(global float4*)(row + d) = x;
    return;
  }
  if (d < dims) row[d] = x.x;
  if (d + 1 < dims) row[d + 1] = x.y;
  if (d + 2 < dims) row[d + 2] = x.z;
  if (d + 3 < dims) row[d + 3] = x.w;
}

// Sums of squares of an item.
typedef struct {
  double moved;      // of x - c
  double quantized;  // of x~
  double residual;   // of x - c - x~
} Squares;

Squares add_squares(Squares sums, double moved, double quantized) {
  const double apart = moved - quantized;
  sums.moved += moved * moved;
  sums.quantized += quantized * quantized;
  sums.residual += apart * apart;
  return sums;
}

// The same of a number x on a grid, of which c + x~ is computed without a rounding: x - c is rounded where x
// is not there, but x - (c + x~) is 0 only where it is.
Squares add_exact_squares(Squares sums, double x, double c, double quantized) {
  const double moved = x - c, apart = x - (c + quantized);
  sums.moved += moved * moved;
  sums.quantized += quantized * quantized;
  sums.residual += apart * apart;
  return sums;
}

// From the sums of the items lid / 8 of 32 rows: the terms of row lid, of `count` rows. By all items; for
// 3 * PARTS * BLOCK numbers of local memory.
void share_row_terms(local double* shared, Squares sums, global float* row_terms, ulong stride, uint count,
                     uint dims, double inexact, bool exact) {
  const uint lid = (uint)get_local_id(0), at = lid % PARTS * BLOCK + lid / PARTS;
  shared[at] = sums.moved;
  shared[PARTS * BLOCK + at] = sums.quantized;
  shared[2 * PARTS * BLOCK + at] = sums.residual;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid < count && lid < BLOCK)
    write_row_terms(row_terms + lid, stride, sum_of_row(shared, lid), sum_of_row(shared + PARTS * BLOCK, lid),
                    sum_of_row(shared + 2 * PARTS * BLOCK, lid), dims, inexact, exact);
}
