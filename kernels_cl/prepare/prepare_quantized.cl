// What prepare_fp16.cl and prepare_int8.cl share: they transpose rows, copy them, and compute row terms. Only
// for devices with double precision. docs/certificate.md, section 2.
#include "bound/bounds.cl"
#include "kith/spi/kernel_limits.def"

#define BLOCK KITH_ROWS_A_BLOCK                         // rows of a work-group
#define PARTS 8                                         // items per row
#define QUANTIZED_BLOCK_ROWS KITH_QUANTIZED_BLOCK_ROWS  // rows in a block of quantized rows

// Rows of the row terms, numbered as in spi/candidates.hpp.
#define HALF_NORM 0
#define NORM 1
#define QUANTIZED_NORM 2
#define RESIDUAL 3

// Writes row terms from the sums of squares of x - c, of x~ and of x - c - x~.
//   inexact  an upper bound, at most 2^-50, of the relative error of x~ in double precision; 0 if it is exact
//   exact    the sums come from add_exact_squares(), so that a residual of 0 is exact
//   stride   0: only half_norm is written
void write_row_terms(global float* row_terms, ulong stride, double moved, double quantized, double residual,
                     uint dims, double inexact, bool exact) {
  const bool on_grid = exact && residual == 0;
  const float norm = root_at_least(moved, dims), quantized_norm = root_at_least(quantized, dims);
  row_terms[HALF_NORM * stride] = on_grid ? round_down(0.5 * moved) : half_at_most(moved, dims);
  if (stride == 0) return;
  row_terms[NORM * stride] = norm;
  row_terms[QUANTIZED_NORM * stride] = quantized_norm;
  // x - c was rounded to double, and so was its difference from the quantized row.
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

// Neighbouring items read neighbouring rows, and transpose them in local memory. Then an item has four
// neighbouring dimensions of row lid / 8. So reads and writes are whole lines.
#define STEP 64            // dimensions
#define PITCH (BLOCK + 1)  // floats from one dimension of a tile to the next

// What a work-item handles: it reads a column of the tile, and writes a part of quantized row i0 + row.
typedef struct {
  uint i0, row, part;        // first row of the group; a row in it; one of its PARTS parts
  bool reads, mine;          // whether the row to read exists; whether the row to write does
  global const float* from;  // the row to read
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

// Reads dimensions d0 ... d0 + 63 of row lid % 32, which begins at `from`; outside they are zeros. A barrier
// must follow.
void read_tile(local float* tile, global const float* from, bool inside, uint d0, uint dims) {
  const uint x = (uint)get_local_id(0) % BLOCK, y = (uint)get_local_id(0) / BLOCK;
#pragma unroll
  for (uint i = y; i < STEP; i += PARTS)
    tile[i * PITCH + x] = inside && d0 + i < dims ? from[(size_t)(d0 + i) * BLOCK] : 0.0f;
}

// Returns dimensions d ... d + 3 of row lid / 8, from the tile.
float4 four_of_tile(local const float* tile, uint d) {
  tile += d * PITCH + (uint)get_local_id(0) / PARTS;
  return (float4)(tile[0], tile[PITCH], tile[2 * PITCH], tile[3 * PITCH]);
}

float4 four_of(global const float* row, uint d, uint dims) {
  return (float4)(d < dims ? row[d] : 0.0f, d + 1 < dims ? row[d + 1] : 0.0f,
                  d + 2 < dims ? row[d + 2] : 0.0f, d + 3 < dims ? row[d + 3] : 0.0f);
}

// Writes four elements of a row. `whole`: dims is a multiple of 4, and rows are aligned to four elements.
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

// The sums of squares of an item.
typedef struct {
  double moved;      // squares of x - c
  double quantized;  // squares of x~, or of sizes that are at least |x~|
  double residual;   // squares of x - c - x~
} Squares;

Squares add_squares(Squares sums, double moved, double quantized, double size) {
  const double apart = moved - quantized;
  sums.moved += moved * moved;
  sums.quantized += size * size;
  sums.residual += apart * apart;
  return sums;
}

// Adds a value x of a grid, for which c + x~ is computed without rounding. x - c may be rounded if x is not
// on the grid, but x - (c + x~) is 0 only if it is.
Squares add_exact_squares(Squares sums, double x, double c, double quantized) {
  const double moved = x - c, apart = x - (c + quantized);
  sums.moved += moved * moved;
  sums.quantized += quantized * quantized;
  sums.residual += apart * apart;
  return sums;
}

// Writes the terms of 32 rows, or the first `count` of them: items lid / 8 have sums of row lid / 8. All
// items call this; `shared` has space for 3 * PARTS * BLOCK numbers in local memory.
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
