// chains_f64: computes the chains in double precision of listed rows. Only for devices with double precision.
// The twin of kernels_cuda/rerank/double_chains.cu.
//
//   queries [m, dims]   train [n, dims]   doubles, stride in elements
//   rows    [m, width]  training rows; no chain is computed for one that `train` lacks
//   values  [m, width]  out: the raw values, in the places of the rows
//
// All pairs of a query and a place of its list form one sequence; one work-item handles one pair, because the
// order of a chain is fixed. Rows are anywhere in memory. For kith_double_chains_wide, LINE neighbouring
// items copy as many columns of one row at a time, so that lines are requested as a whole: into registers
// while earlier columns are accumulated, and then into local memory, from which each item reads the row of
// its own pair. There a row is one column longer, so that reads have no bank conflicts.
// kith_double_chains leaves each row to its own item; it is for narrow rows, and for CPUs.
// Work: dims multiply-adds a pair, and dims * 8 bytes read. Barriers: two a line, and one. Local memory:
// GROUP * 140 bytes, for wide rows.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define LANE double
#define LANE_WORDS as_ulong
#include "common/metric.cl"

#define LINE 16                     // columns that are copied together
#define ROWS_A_COPY (GROUP / LINE)  // rows of which the group copies columns at once

typedef struct {
  ulong pairs;
  uint width, n, dims, first_row;
} Shape;

// Returns the row of `train` at a place of a list; NO_ROW if there is none.
uint row_of_pair(global const uint* rows, Place rows_at, const Shape* shape, ulong pair) {
  if (pair >= shape->pairs) return NO_ROW;
  const ulong q = pair / shape->width, j = pair % shape->width;
  const uint row = rows[rows_at.first + q * rows_at.stride + j] - shape->first_row;
  return row < shape->n ? row : NO_ROW;
}

kernel void kith_double_chains(global const double* restrict queries, Place queries_at,
                               global const double* restrict train, Place train_at,
                               global const uint* restrict rows, Place rows_at,
                               global double* restrict values, Place values_at, const Shape shape) {
  const ulong pair = get_global_id(0);
  const uint row = row_of_pair(rows, rows_at, &shape, pair);
  if (row == NO_ROW) return;
  const ulong q = pair / shape.width, j = pair % shape.width;
  global const double* const a = queries + queries_at.first + q * queries_at.stride;
  global const double* const b = train + train_at.first + row * train_at.stride;
  double acc = chain_start();
  for (uint d = 0; d < shape.dims; ++d) acc = chain_next(acc, a[d], b[d]);
  values[values_at.first + q * values_at.stride + j] = acc;
}

// Requests columns d0 ... d0 + LINE - 1 of the group's rows, and has 0 for those that do not exist.
//   its  [GROUP]  the rows of the group's pairs
ALL_INLINE void request(double* line, global const double* train, Place train_at, local const uint* its,
                        uint d0, uint dims, uint item) {
  const uint column = d0 + item % LINE;
#pragma unroll
  for (uint i = 0; i < LINE; ++i) {
    const uint row = its[i * ROWS_A_COPY + item / LINE];
    line[i] = row != NO_ROW && column < dims ? train[train_at.first + row * train_at.stride + column] : 0;
  }
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_double_chains_wide(
    global const double* restrict queries, Place queries_at, global const double* restrict train,
    Place train_at, global const uint* restrict rows, Place rows_at, global double* restrict values,
    Place values_at, const Shape shape) {
  local double lines[GROUP][LINE + 1];
  local uint its[GROUP];
  const uint item = (uint)get_local_id(0);
  const ulong pair = get_global_id(0);
  const uint row = row_of_pair(rows, rows_at, &shape, pair);
  its[item] = row;
  barrier(CLK_LOCAL_MEM_FENCE);
  const ulong q = pair / shape.width, j = pair % shape.width;
  // An item without a pair reads a query that exists.
  global const double* const a = queries + queries_at.first + (row == NO_ROW ? 0 : q) * queries_at.stride;
  double acc = chain_start();
  double line[LINE];
  request(line, train, train_at, its, 0, shape.dims, item);
  for (uint d0 = 0; d0 < shape.dims; d0 += LINE) {
#pragma unroll
    for (uint i = 0; i < LINE; ++i) lines[i * ROWS_A_COPY + item / LINE][item % LINE] = line[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    request(line, train, train_at, its, d0 + LINE, shape.dims, item);
    const uint count = min((uint)LINE, shape.dims - d0);
#pragma unroll
    for (uint d = 0; d < LINE; ++d)
      if (d < count) acc = chain_next(acc, a[d0 + d], lines[item][d]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row != NO_ROW) values[values_at.first + q * values_at.stride + j] = acc;
}
