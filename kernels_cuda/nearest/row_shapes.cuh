// The shapes of blocks that compute the chains of few queries with their rows, each in registers of one
// thread, and offer them to shortlists.
// No twin in kernels_cl: nearest_rows.cl is the only such kernel there.
#pragma once

#include "common/rows.cuh"
#include "common/shortlist.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t staged_dims =
    256;  // queries of more dimensions are not copied to shared memory

/// Returns the bytes of shared memory for the queries of a batch; 0 if they are read from device memory.
__host__ __device__ constexpr std::size_t staged_bytes(int batch, std::uint32_t dims) {
  return batch >= 16 && dims <= staged_dims ? batch * dims * sizeof(float) : 0;
}

/// Copies queries query .. query + batch - 1 to shared memory, [dims, batch]. A barrier must follow.
template <int batch>
__device__ void stage_queries(float* staged, const Rows& queries, std::uint32_t query) {
  const float* from = row_at(queries, query);
  for (std::uint32_t i = threadIdx.x; i < batch * queries.dims; i += blockDim.x)
    staged[i] = from[i / batch * rows_a_block + i % batch];
}

/// The rows that a thread takes in one step: `pieces` times `width` neighbouring rows. The first pieces of
/// all threads of a block, at most `most_threads`, are contiguous; then come the second pieces, and so on.
template <int queries, int rows, int several, std::uint32_t threads, std::uint32_t at_once>
struct Shape {
  static constexpr int batch = queries, width = rows, pieces = several, each = rows * several;
  static constexpr std::uint32_t most_threads = threads, blocks = at_once;  // blocks per multiprocessor
};

/// For a single query, for a batch whose lists have few rows, and for all others.
using Wide = Shape<1, 4, 3, 1024, 1>;
using Short = Shape<16, 2, 1, 384, 2>;
template <int queries>
using Plain = Shape<queries, 4, 1, row_threads, queries >= 16 ? 2 : 4>;

/// Sets row[] to dimension 0 of the rows of each piece of this thread. A piece that has no row before `end`
/// gets the address of the first piece, so that all can be read without a condition.
template <class S>
__device__ __forceinline__ void place_pieces(const float* (&row)[S::pieces], const Rows& train,
                                             std::uint32_t r, std::uint32_t end) {
#pragma unroll
  for (int piece = 0; piece < S::pieces; ++piece) {
    const std::uint32_t first = r + static_cast<std::uint32_t>(piece) * blockDim.x * S::width;
    row[piece] = row_at(train, first < end ? first : r);
  }
}

template <Metric metric, class S>
__device__ __forceinline__ void shape_chains(float (&acc)[S::batch][S::each], const Rows& queries,
                                             std::uint32_t query, const float* staged,
                                             const float* const (&row)[S::pieces]) {
  if constexpr (S::pieces > 1) {
    piece_chains<metric, S::pieces>(acc, row_at(queries, query), row, queries.dims);
  } else if (staged_bytes(S::batch, queries.dims) > 0) {
    staged_chains<metric>(acc, staged, row[0], queries.dims);
  } else {
    row_chains<metric>(acc, row_at(queries, query), row[0], queries.dims);
  }
}

inline std::uint32_t capacity_for(const spi::NearestStep& step) {
  static_assert(nearest_max_k < 512);
  return step.k <= 64 ? 256 : 512;
}

template <class S>
std::size_t shared_bytes(const spi::NearestStep& step) {
  return S::batch * capacity_for(step) * sizeof(Key) + staged_bytes(S::batch, step.queries.dims);
}

/// Returns the number of threads for this many rows, which need not begin where a thread's rows do.
template <class S>
std::uint32_t threads_for(std::uint32_t rows) {
  constexpr std::uint32_t warp = 32;
  const std::uint32_t threads = divide_up(rows + S::width - 1, std::uint32_t{S::width});
  return std::min(S::most_threads, divide_up(threads, warp) * warp);
}

}  // namespace kith::cuda
