// The rows themselves, one behind the other: for rerank, which reads single rows.
//
//   rows  [r, dims]   blocks of 32 rows
//   out   [r, dims]   row-major, stride in elements
//
// Work-group b of 256 items takes rows 32 b ... of `out`, 32 dimensions at a time, turned over in local
// memory. Work: r * dims floats, read and written once. Two barriers every 32 dimensions.
#define BLOCK 32
#define PARTS 8  // items a row

kernel __attribute__((reqd_work_group_size(BLOCK * PARTS, 1, 1))) void kith_put_in_order(
    global const float* restrict rows, uint r_first, uint r_rows, uint dims, global float* restrict out,
    ulong out_first, ulong out_stride) {
  local float tile[BLOCK * (BLOCK + 1)];
  const uint lid = (uint)get_local_id(0), x = lid % BLOCK, y = lid / BLOCK;
  const uint i0 = (uint)get_group_id(0) * BLOCK, r = r_first + i0 + x;
  global const float* from = rows + (size_t)(r / BLOCK) * dims * BLOCK + r % BLOCK;
  out += out_first;
  for (uint d0 = 0; d0 < dims; d0 += BLOCK) {
    for (uint d = y; d < BLOCK; d += PARTS)
      if (i0 + x < r_rows && d0 + d < dims) tile[d * (BLOCK + 1) + x] = from[(size_t)(d0 + d) * BLOCK];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = y; i < BLOCK; i += PARTS)
      if (i0 + i < r_rows && d0 + x < dims) out[(i0 + i) * out_stride + d0 + x] = tile[x * (BLOCK + 1) + i];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
