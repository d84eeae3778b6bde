// Computes the chains of a few queries with many training rows. A thread takes 4 or 2 neighbouring rows, or
// several pieces of 4.
//
// Rows are stored in transposed blocks of 32, so that 8 threads read one dimension of a block as one line of
// 128 bytes; a warp takes 4 blocks. It needs no barrier and no shared memory: several dimensions are read
// before the first is accumulated, which hides the latency.
// No twin in kernels_cl: nearest_rows.cl has its own chains.
#pragma once

#include "common/metric.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t row_threads = 256;
inline constexpr std::uint32_t warp_rows = 4 * rows_a_block;             // rows that a warp takes at a time
inline constexpr std::uint32_t row_step = row_threads / 32 * warp_rows;  // rows that a block takes at a time

/// Returns where dimension 0 of row r is stored; r counts from the beginning of the memory.
__device__ inline const float* row_at(const Rows& rows, std::uint32_t r) {
  return rows.data +
         (static_cast<std::size_t>(r / rows_a_block) * rows.dims * rows_a_block + r % rows_a_block);
}

/// Returns the first of this thread's 4 rows. The warp's 128 rows begin at block `block0`.
__device__ inline std::uint32_t first_of_four(std::uint32_t block0) {
  return (block0 + threadIdx.x % 32 / 8) * rows_a_block + threadIdx.x % 8 * 4;
}

/// Where queries are stored: packed in device memory, or in shared memory, [dims, queries].
enum class Place { packed, staged };

/// Loads the values of `queries` neighbouring queries, 16 bytes at a time if there are at least 4.
template <Place place, int queries>
__device__ __forceinline__ void load_queries(float (&a)[queries], const float* query) {
  if constexpr (queries % 4 == 0) {
#pragma unroll
    for (int q = 0; q < queries; q += 4) {
      const auto* from = reinterpret_cast<const float4*>(query + q);
      const float4 four = place == Place::staged ? *from : __ldg(from);
      a[q] = four.x;
      a[q + 1] = four.y;
      a[q + 2] = four.z;
      a[q + 3] = four.w;
    }
  } else {
#pragma unroll
    for (int q = 0; q < queries; ++q) a[q] = place == Place::staged ? query[q] : __ldg(query + q);
  }
}

/// Loads one dimension of 4 or 2 neighbouring rows at once.
template <int rows>
__device__ __forceinline__ void load_neighbours(float (&b)[rows], const float* row) {
  static_assert(rows == 4 || rows == 2);
  if constexpr (rows == 4) {
    const float4 four = __ldg(reinterpret_cast<const float4*>(row));
    b[0] = four.x;
    b[1] = four.y;
    b[2] = four.z;
    b[3] = four.w;
  } else {
    const float2 two = __ldg(reinterpret_cast<const float2*>(row));
    b[0] = two.x;
    b[1] = two.y;
  }
}

template <int step, int rows>
__device__ __forceinline__ void load_rows(float (&b)[step][rows], const float* row) {
#pragma unroll
  for (int d = 0; d < step; ++d) load_neighbours(b[d], row + d * rows_a_block);
}

template <Metric metric, int queries, int rows>
__device__ __forceinline__ void start_chains(float (&acc)[queries][rows]) {
#pragma unroll
  for (int q = 0; q < queries; ++q)
#pragma unroll
    for (int j = 0; j < rows; ++j) acc[q][j] = Chain<metric>::start();
}

/// Accumulates `step` dimensions of rows that are already loaded.
template <Metric metric, Place place, int queries, int rows, int step>
__device__ __forceinline__ void accumulate_step(float (&acc)[queries][rows], const float*& query,
                                                const float (&b)[step][rows]) {
  constexpr int pitch = place == Place::staged ? queries : static_cast<int>(rows_a_block);
#pragma unroll
  for (int d = 0; d < step; ++d) {
    float a[queries];
    load_queries<place>(a, query + d * pitch);
#pragma unroll
    for (int q = 0; q < queries; ++q)
#pragma unroll
      for (int j = 0; j < rows; ++j) acc[q][j] = Chain<metric>::next(acc[q][j], a[q], b[d][j]);
  }
  query += step * pitch;
}

/// Accumulates `step` dimensions. The rows are loaded for all of them first.
template <int step, Metric metric, Place place, int queries, int rows>
__device__ __forceinline__ void accumulate_rows(float (&acc)[queries][rows], const float*& query,
                                                const float*& row) {
  float b[step][rows];
  load_rows(b, row);
  accumulate_step<metric, place>(acc, query, b);
  row += step * rows_a_block;
}

/// Computes acc[q][j], the chain of query q with row j of four or two.
///   query  dimension 0 of the first of `queries` neighbouring queries; aligned to the size of these
///   row    dimension 0 of the first row; aligned to the size of the rows
template <Metric metric, int queries, int rows>
__device__ __forceinline__ void row_chains(float (&acc)[queries][rows], const float* query, const float* row,
                                           std::uint32_t dims) {
  constexpr Place place = Place::packed;
  constexpr int most = queries >= 16 ? 4 : 8;
  start_chains<metric>(acc);
  std::uint32_t left = dims;
  for (; left >= most; left -= most) accumulate_rows<most, metric, place>(acc, query, row);
  if (most == 8 && (left & 4) != 0) accumulate_rows<4, metric, place>(acc, query, row);
  if ((left & 2) != 0) accumulate_rows<2, metric, place>(acc, query, row);
  if ((left & 1) != 0) accumulate_rows<1, metric, place>(acc, query, row);
}

/// Does the same for queries in shared memory. Rows are loaded two dimensions ahead.
template <Metric metric, int queries, int rows>
__device__ __forceinline__ void staged_chains(float (&acc)[queries][rows], const float* query,
                                              const float* row, std::uint32_t dims) {
  constexpr Place place = Place::staged;
  constexpr int step = 2;
  start_chains<metric>(acc);
  std::uint32_t left = dims;
  if (left >= step) {
    float b[step][rows];
    load_rows(b, row);
#pragma unroll 2
    for (; left >= 2 * step; left -= step) {
      float next[step][rows];
      row += step * rows_a_block;
      load_rows(next, row);
      accumulate_step<metric, place>(acc, query, b);
#pragma unroll
      for (int d = 0; d < step; ++d)
#pragma unroll
        for (int j = 0; j < rows; ++j) b[d][j] = next[d][j];
    }
    accumulate_step<metric, place>(acc, query, b);
    row += step * rows_a_block;
    left -= step;
  }
  for (; left > 0; --left) accumulate_rows<1, metric, place>(acc, query, row);
}

/// Computes acc[0][piece * 4 + j], the chain of one query with row j of the piece at row[piece]. All pieces
/// are loaded before the first is accumulated.
template <Metric metric, int pieces>
__device__ __forceinline__ void piece_chains(float (&acc)[1][pieces * 4], const float* query,
                                             const float* const (&row)[pieces], std::uint32_t dims) {
  constexpr int step = 2;
  start_chains<metric>(acc);
  const auto accumulate = [&](std::uint32_t d0, auto dimensions) {
    constexpr int several = decltype(dimensions)::value;
    float b[pieces][several][4], a[several];
#pragma unroll
    for (int piece = 0; piece < pieces; ++piece)
      load_rows(b[piece], row[piece] + std::size_t{d0} * rows_a_block);
#pragma unroll
    for (int d = 0; d < several; ++d) a[d] = __ldg(query + std::size_t{d0 + d} * rows_a_block);
#pragma unroll
    for (int d = 0; d < several; ++d)
#pragma unroll
      for (int i = 0; i < pieces * 4; ++i)
        acc[0][i] = Chain<metric>::next(acc[0][i], a[d], b[i / 4][d][i % 4]);
  };
  std::uint32_t d = 0;
  for (; d + step <= dims; d += step) accumulate(d, std::integral_constant<int, step>());
  if (d < dims) accumulate(d, std::integral_constant<int, 1>());
}

/// Calls body(std::integral_constant<int, Q>), where Q is the number of queries that a thread takes at once
/// out of m.
template <class Body>
cudaError_t with_query_batch(std::uint32_t m, Body&& body) {
  if (m <= 1) return body(std::integral_constant<int, 1>());
  if (m <= 4) return body(std::integral_constant<int, 4>());
  return body(std::integral_constant<int, 16>());
}

/// Returns the number of batches of Q queries. The first begins at a multiple of Q, at or before rows.first.
inline std::uint32_t batches_of(const Rows& queries, std::uint32_t batch) {
  return divide_up(queries.first % batch + queries.rows, batch);
}

}  // namespace kith::cuda
