// rerank: computes the chain of every listed candidate.
//
//   queries [q, dims]   blocks of 32 rows      train [t, dims]   the same, or contiguous rows
//   candidates [q, capacity]   counts [q, 1] say how many are listed
//   out     [q, capacity]      keys, in the places of the candidates
//
// A block takes 8 queries and divides their candidates into parts of 32 of one query, so that each warp has
// work however candidates are distributed; if queries are few, several blocks share them. One lane handles
// one candidate. Rows of candidates are anywhere in memory: of rows in blocks, a lane uses 4 of each 32 bytes
// that are transferred; of contiguous rows it uses all (rerank_lines.cu handles those aligned to 16 bytes).
// Several dimensions are read before the first is accumulated, which hides the latency. All lanes read the
// query's value at one address.
// Work: dims multiply-adds per candidate, and dims * 32 bytes read, or dims * 4. Barriers: one. Shared
// memory: 32 bytes. Source: candidates by a lower bound, then the exact distance: Seidl, Kriegel, Optimal
// multi-step k-nearest neighbor search, 1998.
#include "common/rows.cuh"
#include "rerank/reranking.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t threads = 256, warps = threads / 32;
constexpr std::uint32_t team_queries = warps;  // queries of a block
constexpr std::uint32_t step = 16;             // number of dimensions that are loaded together

/// The layout of training rows.
enum class Order { blocks, rows };

/// Loads `step` dimensions of a training row that begins at `row`.
template <Order order>
__device__ __forceinline__ void load_step(float (&b)[step], const float* row) {
#pragma unroll
  for (std::uint32_t d = 0; d < step; ++d)
    b[d] = __ldg(row + d * (order == Order::blocks ? rows_a_block : 1));
}

/// Returns the chain of a query and a row. Both arguments point at dimension 0.
template <Metric metric, Order order>
__device__ __forceinline__ float chain_of(const float* query, const float* row, std::uint32_t dims) {
  constexpr std::uint32_t pitch = order == Order::blocks ? rows_a_block : 1;
  float acc = Chain<metric>::start();
  std::uint32_t left = dims;
  for (; left >= step; left -= step) {
    float a[step], b[step];
    load_step<order>(b, row);
#pragma unroll
    for (std::uint32_t d = 0; d < step; ++d) a[d] = __ldg(query + d * rows_a_block);
#pragma unroll
    for (std::uint32_t d = 0; d < step; ++d) acc = Chain<metric>::next(acc, a[d], b[d]);
    row += step * pitch;
    query += step * rows_a_block;
  }
  for (; left > 0; --left) {
    acc = Chain<metric>::next(acc, __ldg(query), __ldg(row));
    row += pitch;
    query += rows_a_block;
  }
  return acc;
}

/// Returns the address of dimension 0 of training row r of the memory.
template <Order order>
__device__ __forceinline__ const float* train_row(const Rows& train, std::uint32_t r) {
  if constexpr (order == Order::blocks) return row_at(train, r);
  return train.data + static_cast<std::size_t>(r) * train.dims;
}

/// Block b handles part b / teams of the candidates of 8 queries from b % teams * 8 on. Short lists have only
/// a first part; first parts are spread over all multiprocessors.
template <Metric metric, Order order>
__global__ __launch_bounds__(threads) void rerank_lists(const Reranking reranking, const std::uint32_t teams,
                                                        const std::uint32_t parts) {
  __shared__ std::uint32_t listed[team_queries];
  const std::uint32_t q0 = blockIdx.x % teams * team_queries;
  const Lists<const std::uint32_t>& lists = reranking.candidates;
  if (threadIdx.x < team_queries) {
    const std::uint32_t q = q0 + threadIdx.x;
    listed[threadIdx.x] = q < reranking.queries.rows
                              ? min(lists.counts.data[std::size_t{q} * lists.counts.stride], lists.capacity)
                              : 0;
  }
  __syncthreads();

  // This warp takes every (parts * 8)-th of the pieces of 32 candidates; `next` counts from the first piece
  // of query q.
  std::uint64_t next = std::uint64_t{blockIdx.x / teams} * warps + threadIdx.x / 32;
  const std::uint32_t shift = reranking.train.first - reranking.first_row;  // wraps around, and back
  for (std::uint32_t i = 0; i < team_queries; ++i) {
    const std::uint32_t count = listed[i], pieces = divide_up(count, 32u);
    const std::size_t q = q0 + i;
    for (; next < pieces; next += std::uint64_t{parts} * warps) {
      const auto j = static_cast<std::uint32_t>(next) * 32 + threadIdx.x % 32;
      if (j >= count) continue;
      const std::uint32_t t = lists.rows.data[q * lists.rows.stride + j];
      const float value =
          chain_of<metric, order>(row_at(reranking.queries, reranking.queries.first + q0 + i),
                                  train_row<order>(reranking.train, t + shift), reranking.queries.dims);
      reranking.out.data[q * reranking.out.stride + j] = key_of(value, t);
    }
    next -= pieces;
  }
}

template <Order order>
cudaError_t start(const Queue& queue, const Reranking& reranking) {
  const std::uint32_t teams = divide_up(reranking.queries.rows, team_queries);
  // There are enough blocks for all multiprocessors, if every list is full.
  const std::uint64_t enough = divide_up<std::uint64_t>(8ull * queue.multiprocessors, teams);
  const auto parts = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(enough, divide_up(reranking.candidates.capacity, 32u)));
  return with_chain(reranking.metric, [&](auto chain) {
    return launch(queue, rerank_lists<decltype(chain)::value, order>, std::uint64_t{teams} * parts, threads,
                  0, reranking, teams, parts);
  });
}

}  // namespace

cudaError_t rerank(const Queue& queue, const spi::RerankStep& step) {
  return start<Order::blocks>(queue, reranking_of(step));
}

cudaError_t rerank_in_order(const Queue& queue, const spi::RerankStep& step) {
  return start<Order::rows>(queue, reranking_of(step));
}

}  // namespace kith::cuda
