// rerank, for contiguous training rows that are aligned to 16 bytes: copies whole lines of a row. The twin
// of kernels_cuda/rerank/rerank_lines.cu.
//
//   queries     [q, dims]       blocks of 32 rows
//   train       [t, dims]       row-major, dims a multiple of 4
//   candidates  [q, capacity]   training rows, stride in elements; `counts` says how many each list has
//   counts      [q]             may exceed the capacity, stride in elements
//   out         [q, capacity]   the key of each candidate, stride in elements
//
// A work-group takes 8 queries and joins their lists of candidates into one sequence, so that each warp
// always has 32 candidates to handle. Eight items copy 128 bytes of a row, which are 32 dimensions, into
// local memory while earlier ones are accumulated, and copy the same dimensions of the queries; then
// each item accumulates the row of its own candidate. Group g handles part g / teams of the candidates
// of 8 queries from g % teams * 8 on. A group is a single warp, so that warps without work do not occupy
// a multiprocessor.
// Work: dims multiply-adds per candidate, and dims * 4 bytes read. Barriers: two. Local memory: 20 KiB.
#include "common/metric.cl"
#include "common/tensor.cl"
#include "common/warp.cl"
#include "kith/spi/kernel_limits.def"

#define BLOCK KITH_ROWS_A_BLOCK
#define GROUP 32
#define TEAM 8
#define LINE 32            // dimensions
#define PIECES (LINE / 4)  // pieces of 16 bytes
#define STAGES 4

// Begins to copy the dimensions from d0 on of 32 rows, piece p of row r to p ^ r % 8, and of the queries.
//   from  [PIECES]  the rows of which this item copies a piece
ALL_INLINE void copy_line(uint to_rows, uint to_queries, global const float* train, const uint* from,
                          global const float* queries, uint d0, uint dims, uint lane) {
  const uint piece = lane % PIECES;
  if (d0 + 4 * piece < dims) {
#pragma unroll
    for (uint i = 0; i < PIECES; ++i) {
      const uint r = 4 * i + lane / PIECES;
      copy_piece(to_rows + (r * PIECES + (piece ^ r % PIECES)) * PIECE_BYTES,
                 (global const uint4*)(train + (size_t)from[i] * dims + d0 + 4 * piece));
    }
  }
#pragma unroll
  for (uint d = lane / 2; d < LINE; d += 16)
    if (d0 + d < dims)
      copy_piece(to_queries + (d * 2 + lane % 2) * PIECE_BYTES,
                 (global const uint4*)(queries + (size_t)(d0 + d) * BLOCK + lane % 2 * 4));
  END_BATCH();
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_rerank_lines(
    global const float* restrict queries, global const float* restrict train, const Sides sides,
    uint first_row, global const uint* restrict candidates, Place candidates_at, uint capacity,
    global const uint* restrict counts, Place counts_at, global Key* restrict out, Place out_at, uint teams,
    uint parts) {
  const uint q_first = sides.q_first, q_rows = sides.q_rows, t_first = sides.t_first, dims = sides.dims;
  local uint4 row_stages[STAGES * 32 * PIECES] __attribute__((aligned(128)));
  local uint4 query_stages[STAGES * LINE * TEAM / 4] __attribute__((aligned(128)));
  local uint begin[TEAM + 1];
  const uint lane = (uint)get_local_id(0);
  const uint q0 = (uint)get_group_id(0) % teams * TEAM;
  if (lane < TEAM)
    begin[lane + 1] =
        q0 + lane < q_rows ? min(counts[counts_at.first + (q0 + lane) * counts_at.stride], capacity) : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane == 0) {
    begin[0] = 0;
    for (uint i = 0; i < TEAM; ++i) begin[i + 1] += begin[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint total = begin[TEAM], packed = q_first + q0;
  global const float* of_team = queries + (size_t)(packed / BLOCK) * dims * BLOCK + packed % BLOCK;
  local const float* staged_queries = (local const float*)query_stages;
  const uint to_rows = local_address(row_stages), to_queries = local_address(query_stages);
#define COPY(stage, d0)                                                                                 \
  copy_line(to_rows + (stage) * (32 * PIECES * PIECE_BYTES),                                            \
            to_queries + (stage) * (LINE * TEAM * (uint)sizeof(float)), train, from, of_team, d0, dims, \
            lane)
  for (uint first = (uint)get_group_id(0) / teams * GROUP; first < total; first += parts * GROUP) {
    const uint place = min(first + lane, total - 1);
    uint of = 0;
    for (uint i = 1; i < TEAM; ++i) of += place >= begin[i] ? 1 : 0;
    const uint j = place - begin[of];
    const ulong q = q0 + of;
    const uint row = candidates[candidates_at.first + q * candidates_at.stride + j];
    uint from[PIECES];
#pragma unroll
    for (uint i = 0; i < PIECES; ++i) from[i] = of_item(t_first + (row - first_row), 4 * i + lane / PIECES);
    float acc = chain_start();
    JOIN_WARP();
#pragma unroll
    for (uint s = 0; s + 1 < STAGES; ++s) COPY(s, s * LINE);
    for (uint d = 0, s = 0; d < dims; d += LINE, s = (s + 1) % STAGES) {
      COPY((s + STAGES - 1) % STAGES, d + (STAGES - 1) * LINE);
      WAIT_FOR_BATCHES(3);  // STAGES - 1
      JOIN_WARP();
      local const uint4* mine = row_stages + (s * 32 + lane) * PIECES;
      local const float* a = staged_queries + s * (LINE * TEAM) + of;
#define ACCUMULATE(p)                                      \
  do {                                                     \
    const float4 b = as_float4(mine[(p) ^ lane % PIECES]); \
    acc = chain_next(acc, a[4 * (p)*TEAM], b.x);           \
    acc = chain_next(acc, a[(4 * (p) + 1) * TEAM], b.y);   \
    acc = chain_next(acc, a[(4 * (p) + 2) * TEAM], b.z);   \
    acc = chain_next(acc, a[(4 * (p) + 3) * TEAM], b.w);   \
  } while (0)
      if (d + LINE <= dims) {
#pragma unroll
        for (uint p = 0; p < PIECES; ++p) ACCUMULATE(p);
      } else {
        for (uint p = 0; p < (dims - d) / 4; ++p) ACCUMULATE(p);
      }
      JOIN_WARP();
    }
    if (first + lane < total) out[out_at.first + q * out_at.stride + j] = make_key(acc, row);
  }
}
