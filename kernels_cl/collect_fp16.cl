// collect, fp16: inner products on tensor cores, tested as they come, never written.
//
//   queries [q, dims]   train [t, dims]   shadows of 16-bit floats, row-major, `pitch` pieces of 8 halves
//   from row
//                                         to row, padded to 128 rows and 32 dimensions
//   theta   [q]         low   [t]
//   rows    [q, capacity]   lists of training rows, in any order; counts [q] grow, beyond the capacity too
//
// Only for NVIDIA's compiler, which takes PTX for compute capability 8.0 and newer; the twin of
// kernels_cuda/collect_fp16.cu. A work-group of 4 warps takes 128 queries and, one after another, tiles of
// 128 training rows; a warp 64 by 64 of each, 128 sums an item. Both come through local memory in stages of
// 32 dimensions, copied while earlier ones are multiplied; piece p of row r stands at place p ^ r / 2 % 4 of
// the row, so that the 8 rows of a matrix lie in different banks. Of each sum low - p is compared with theta;
// what passes, seldom one of thousands, is appended at once. Work: q * t * dims multiply-adds in steps of
// m16n8k16, and two instructions a pair. A barrier every 32 dimensions. Local memory: 48 KiB, all there is to
// a work-group. Source: docs/certificate.md; appending under a threshold: as in FaSTED (Curless, Gowanlock
// 2025).
#include "common.cl"

#define GROUP 128
#define BLOCK 128  // rows of a tile
#define WARP_ROWS 64
#define PIECES 4  // of 8 halves, a row and stage
#define STAGES 2
#define STAGE (BLOCK * PIECES)
#define ACROSS 4  // matrices of 16 queries of a warp
#define ALONG 8   // matrices of 8 training rows of a warp

// Where piece p of row r stands in a stage.
uint place_of(uint r, uint p) {
  return r * PIECES + (p ^ (r * PIECES / 8 % PIECES));
}

// The address that PTX knows local memory by.
uint local_address(local const uint4* at) {
  return (uint)(ulong)at;
}

// Copy a stage of 128 rows, while others work.
void copy_stage(local uint4* to, global const uint4* rows, uint pitch, uint lid) {
#pragma unroll
  for (uint i = 0; i < STAGE / GROUP; ++i) {
    const uint r = (i * GROUP + lid) / PIECES, p = lid % PIECES;
    asm volatile("{ .reg .u64 g; cvta.to.global.u64 g, %1; cp.async.cg.shared.global [%0], [g], 16; }" ::"r"(
                     local_address(to + place_of(r, p))),
                 "l"(rows + (size_t)r * pitch + p)
                 : "memory");
  }
}

// Four matrices of 8 rows by 8 halves; lane l gives the address of row l % 8 of matrix l / 8.
#define LOAD_MATRICES(to, from)                                                \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" \
               : "=r"((to)[0]), "=r"((to)[1]), "=r"((to)[2]), "=r"((to)[3])    \
               : "r"(local_address(from))                                      \
               : "memory")

// c += a b, a of 16 rows by 16 dimensions, b of 16 dimensions by 8 columns.
#define MULTIPLY(c, a, b0, b1)                                 \
  asm volatile(                                                \
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "     \
      "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"     \
      : "+f"((c)[0]), "+f"((c)[1]), "+f"((c)[2]), "+f"((c)[3]) \
      : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"(b0), "r"(b1))

// Work-group b takes queries 128 (b % query_blocks) ... and part b / query_blocks of the training rows.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_collect_fp16(
    global const uint4* restrict queries, ulong queries_first, global const uint4* restrict train,
    ulong train_first, uint pitch, uint q_rows, uint t_rows, uint query_blocks, uint a_part, float unscale,
    global const float* restrict low_of, global const float* restrict theta_of, ulong theta_first,
    ulong theta_stride, uint first_row, global uint* restrict rows, ulong rows_first, ulong rows_stride,
    uint capacity, global uint* restrict counts, ulong counts_first, ulong counts_stride) {
  local uint4 query_stages[STAGES * STAGE], train_stages[STAGES * STAGE];
  const uint lid = (uint)get_local_id(0), lane = lid % 32, warp = lid / 32;
  const uint query_block = (uint)get_group_id(0) % query_blocks;
  const uint train_blocks = (uint)(((ulong)t_rows + BLOCK - 1) / BLOCK);
  const uint begin = (uint)get_group_id(0) / query_blocks * a_part, end = min(begin + a_part, train_blocks);
  if (begin >= end) return;
  const size_t block_pieces = (size_t)BLOCK * pitch;
  queries += queries_first + query_block * block_pieces;
  train += train_first;
  const uint a_block = pitch / PIECES, total = (end - begin) * a_block;  // stages

  const uint warp_q = warp / 2 * WARP_ROWS, warp_t = warp % 2 * WARP_ROWS;
  const uint q0 = query_block * BLOCK + warp_q;
  float theta[ACROSS * 2];  // NaN where there is no query
#pragma unroll
  for (uint i = 0; i < ACROSS * 2; ++i) {
    const uint q = q0 + i * 8 + lane / 4;
    theta[i] = q < q_rows ? theta_of[theta_first + q * theta_stride] : NAN;
  }

#define COPY(s)                                                                                        \
  do {                                                                                                 \
    if ((s) < total) {                                                                                 \
      copy_stage(train_stages + (s) % STAGES * STAGE,                                                  \
                 train + (begin + (s) / a_block) * block_pieces + (s) % a_block * PIECES, pitch, lid); \
      copy_stage(query_stages + (s) % STAGES * STAGE, queries + (s) % a_block * PIECES, pitch, lid);   \
    }                                                                                                  \
    asm volatile("cp.async.commit_group;" ::: "memory");                                               \
  } while (0)

  for (uint s = 0; s < STAGES - 1; ++s) COPY(s);
  // Of a: rows 0-7, rows 8-15, and both 8 dimensions on. Of b: rows 0-7, the same 8 dimensions on, rows 8-15.
  const uint a_row = warp_q + lane % 16, a_piece = lane / 16;
  const uint b_row = warp_t + lane % 8 + lane / 16 * 8, b_piece = lane / 8 % 2;
  uint s = 0;
  for (uint block = begin; block < end; ++block) {
    const uint t0 = block * BLOCK + warp_t;
    float2 low[ALONG];  // NaN where there is no row
#pragma unroll
    for (uint j = 0; j < ALONG; ++j) {
      const uint t = t0 + j * 8 + lane % 4 * 2;
      low[j].x = t < t_rows ? low_of[t] : NAN;
      low[j].y = t + 1 < t_rows ? low_of[t + 1] : NAN;
    }
    // Sum [i][j][e] is of query 16 i + lane / 4 (8 more for e >= 2) and training row 8 j + 2 (lane % 4) + e
    // % 2.
    float sums[ACROSS][ALONG][4];
#pragma unroll
    for (uint i = 0; i < ACROSS; ++i)
#pragma unroll
      for (uint j = 0; j < ALONG; ++j)
#pragma unroll
        for (uint e = 0; e < 4; ++e) sums[i][j][e] = 0;

    for (uint stage = 0; stage < a_block; ++stage, ++s) {
      asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
      barrier(CLK_LOCAL_MEM_FENCE);
      COPY(s + STAGES - 1);
      local const uint4* query_stage = query_stages + s % STAGES * STAGE;
      local const uint4* train_stage = train_stages + s % STAGES * STAGE;
#pragma unroll
      for (uint p = 0; p < PIECES; p += 2) {
        uint a[ACROSS][4], b[ALONG / 2][4];
#pragma unroll
        for (uint i = 0; i < ACROSS; ++i)
          LOAD_MATRICES(a[i], query_stage + place_of(a_row + 16 * i, p + a_piece));
#pragma unroll
        for (uint j = 0; j < ALONG / 2; ++j)
          LOAD_MATRICES(b[j], train_stage + place_of(b_row + 16 * j, p + b_piece));
#pragma unroll
        for (uint j = 0; j < ALONG; ++j)
#pragma unroll
          for (uint i = 0; i < ACROSS; ++i)
            MULTIPLY(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
      }
    }

#pragma unroll
    for (uint i = 0; i < ACROSS; ++i) {
      // The least of each query is compared first, so that no comparison waits for the one before.
      float least[4] = {NAN, NAN, NAN, NAN};
#pragma unroll
      for (uint j = 0; j < ALONG; ++j)
#pragma unroll
        for (uint e = 0; e < 4; ++e)
          least[e] = fmin(least[e], fma(-unscale, sums[i][j][e], e % 2 ? low[j].y : low[j].x));
      if (!(fmin(least[0], least[1]) <= theta[2 * i]) && !(fmin(least[2], least[3]) <= theta[2 * i + 1]))
        continue;
      uint pending = 0;
#pragma unroll
      for (uint j = 0; j < ALONG; ++j)
#pragma unroll
        for (uint e = 0; e < 4; ++e)
          if (fma(-unscale, sums[i][j][e], e % 2 ? low[j].y : low[j].x) <= theta[2 * i + e / 2])
            pending |= 1u << (j * 4 + e);
      while (pending != 0) {
        const uint at = 31 - clz(pending);
        pending &= ~(1u << at);
        const uint q = q0 + i * 16 + lane / 4 + at % 4 / 2 * 8;
        const uint place = atomic_inc(counts + counts_first + q * counts_stride);
        if (place < capacity)
          rows[rows_first + q * rows_stride + place] = first_row + t0 + at / 4 * 8 + lane % 4 * 2 + at % 2;
      }
    }
  }
}
