// rerank, for contiguous training rows that are aligned to 16 bytes: copies whole lines of a row.
//
//   queries [q, dims]   blocks of 32 rows      train [t, dims]   row-major, dims a multiple of 4
//   candidates [q, capacity]   counts [q, 1] say how many are listed
//   out     [q, capacity]      keys, in the places of the candidates
//
// A block takes 8 queries and joins their lists of candidates into one sequence, so that it always has 32
// candidates to handle. Eight lanes copy 128 bytes of a row, which are 32 dimensions, into shared memory
// while earlier ones are accumulated, and copy the same dimensions of the queries; then each lane accumulates
// the row of its own candidate. If instead each lane read its own row from device memory, each access of a
// warp would touch 32 lines for 16 bytes of each, and the next would wait for it. A block is a single warp,
// so that warps without work do not occupy a multiprocessor.
// Rows in memory of the host are read over the bus, which takes as long for a part of a line as for all of
// it. Asynchronous copies to permuted places of shared memory request parts of lines; loads into registers
// request whole lines. On an H100 the former took 9.9 ms, the latter 2.7 ms, at 51 GB/s. If all rows begin at
// the same offset in a line, the first and the last load are shorter, so that no line is requested twice.
// Work: dims multiply-adds per candidate, and dims * 4 bytes read. Barriers: two. Shared memory: 10 to 20
// KiB. Source: candidates by a lower bound, then the exact distance: Seidl, Kriegel, Optimal multi-step
// k-nearest neighbor search, 1998.
#include <cuda_pipeline.h>

#include "common/rows.cuh"
#include "rerank/reranking.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t line_threads = 32, line_queries = 8;
constexpr std::uint32_t line = 32, pieces = line / 4;  // dimensions, and pieces of 16 bytes

/// Lines of 32 candidates, with piece p of row r at p ^ r % 8 so that neither copies nor reads have bank
/// conflicts, and the same dimensions of the block's queries.
struct Stage {
  float4 rows[32][pieces];
  float queries[line][line_queries];
};

/// Where the candidates of each query of a block begin in their joint sequence.
struct Team {
  std::uint32_t begin[line_queries + 1];

  __device__ __forceinline__ void count(const Reranking& reranking, std::uint32_t q0) {
    const Lists<const std::uint32_t>& lists = reranking.candidates;
    if (threadIdx.x < line_queries) {
      const std::uint32_t q = q0 + threadIdx.x;
      begin[threadIdx.x + 1] =
          q < reranking.queries.rows
              ? min(lists.counts.data[std::size_t{q} * lists.counts.stride], lists.capacity)
              : 0;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      begin[0] = 0;
      for (std::uint32_t i = 0; i < line_queries; ++i) begin[i + 1] += begin[i];
    }
    __syncthreads();
  }
  __device__ __forceinline__ std::uint32_t query_of(std::uint32_t place) const {
    std::uint32_t i = 0;
#pragma unroll
    for (std::uint32_t j = 1; j < line_queries; ++j) i += place >= begin[j];
    return i;
  }
};

/// Where rows are stored: in memory of the device, or of the host.
enum class From { device, host };

/// Copies the rows of the warp's candidates, eight of them in this lane, and the queries of the block.
template <From from>
class Lines {
 public:
  ///   row  of this lane's candidate, or any valid row
  __device__ __forceinline__ Lines(const Reranking& reranking, std::uint32_t row, std::uint32_t q0,
                                   std::uint32_t lane)
      : data_(reranking.train.data + lane % pieces * 4),
        queries_(row_at(reranking.queries, reranking.queries.first + q0) + lane % 2 * 4),
        dims_(reranking.train.dims),
        lane_(lane) {
#pragma unroll
    for (std::uint32_t i = 0; i < pieces; ++i) row_[i] = __shfl_sync(0xFFFFFFFFu, row, 4 * i + lane / pieces);
  }

  /// Begins to copy the existing dimensions from d0 on, of all 32 rows.
  __device__ __forceinline__ void copy(Stage& to, std::int32_t d0) const {
    if (static_cast<std::uint32_t>(d0) + lane_ % pieces * 4 < dims_) {  // a negative sum wraps around
#pragma unroll
      for (std::uint32_t i = 0; i < pieces; ++i) {
        const std::uint32_t r = 4 * i + lane_ / pieces;
        copy_piece(to.rows[r][lane_ % pieces ^ r % pieces], data_ + std::size_t{row_[i]} * dims_ + d0);
      }
    }
#pragma unroll
    for (std::uint32_t d = lane_ / 2; d < line; d += 16)
      if (const std::uint32_t at = static_cast<std::uint32_t>(d0) + d; at < dims_)
        __pipeline_memcpy_async(&to.queries[d][lane_ % 2 * 4], queries_ + std::size_t{at} * rows_a_block,
                                sizeof(float4));
    __pipeline_commit();
  }

 private:
  __device__ __forceinline__ static void copy_piece(float4& to, const float* piece) {
    if constexpr (from == From::device)
      __pipeline_memcpy_async(&to, piece, sizeof(float4));
    else
      to = __ldg(reinterpret_cast<const float4*>(piece));
  }

  const float *const data_, *const queries_;
  const std::uint32_t dims_, lane_;
  std::uint32_t row_[pieces];
};

/// Accumulates pieces first ... last - 1 of a line, of the lane's own row, with query `i` of the block.
template <Metric metric>
__device__ __forceinline__ void accumulate_pieces(float& acc, const Stage& stage, std::uint32_t i,
                                                  std::uint32_t first, std::uint32_t last,
                                                  std::uint32_t lane) {
#pragma unroll
  for (std::uint32_t p = 0; p < pieces; ++p) {
    if (p < first || p >= last) continue;
    const float4 b = stage.rows[lane][p ^ lane % pieces];
    acc = Chain<metric>::next(acc, stage.queries[4 * p][i], b.x);
    acc = Chain<metric>::next(acc, stage.queries[4 * p + 1][i], b.y);
    acc = Chain<metric>::next(acc, stage.queries[4 * p + 2][i], b.z);
    acc = Chain<metric>::next(acc, stage.queries[4 * p + 3][i], b.w);
  }
}

/// Block b handles part b / teams of the candidates of 8 queries from b % teams * 8 on.
///   early  offset, in pieces, at which all rows begin in a line of memory
template <Metric metric, From from, std::uint32_t stages>
__global__ __launch_bounds__(line_threads) void rerank_lines(const Reranking reranking,
                                                             const std::uint32_t teams,
                                                             const std::uint32_t parts,
                                                             const std::uint32_t early) {
  extern __shared__ Stage stage[];  // [stages]
  __shared__ Team team;
  take_turn();
  const std::uint32_t lane = threadIdx.x;
  const auto dims = static_cast<std::int32_t>(reranking.train.dims);
  constexpr auto step = static_cast<std::int32_t>(line);
  const std::int32_t begin = from == From::host ? -4 * static_cast<std::int32_t>(early) : 0;
  const std::uint32_t q0 = blockIdx.x % teams * line_queries;
  const Lists<const std::uint32_t>& lists = reranking.candidates;
  team.count(reranking, q0);
  const std::uint32_t total = team.begin[line_queries];
  const std::uint32_t shift = reranking.train.first - reranking.first_row;  // wraps around, and back
  for (std::uint32_t first = blockIdx.x / teams * line_threads; first < total;
       first += parts * line_threads) {
    const std::uint32_t place = min(first + lane, total - 1), i = team.query_of(place);
    const std::uint32_t j = place - team.begin[i];
    const std::size_t q = q0 + i;
    const std::uint32_t t = lists.rows.data[q * lists.rows.stride + j];
    const Lines<from> lines(reranking, t + shift, q0, lane);
    float acc = Chain<metric>::start();
    __syncwarp();  // all have read the former contents
#pragma unroll
    for (std::uint32_t s = 0; s + 1 < stages; ++s)
      lines.copy(stage[s], begin + static_cast<std::int32_t>(s) * step);
    std::uint32_t s = 0;
    for (std::int32_t d = begin; d < dims; d += step, s = (s + 1) % stages) {
      lines.copy(stage[(s + stages - 1) % stages], d + static_cast<std::int32_t>(stages - 1) * step);
      __pipeline_wait_prior(stages - 1);
      __syncwarp();  // other lanes' copies are visible
      if (d >= 0 && d + step <= dims)
        accumulate_pieces<metric>(acc, stage[s], i, 0, pieces, lane);  // constants avoid a branch
      else
        accumulate_pieces<metric>(acc, stage[s], i, d < 0 ? early : 0,
                                  static_cast<std::uint32_t>(min(dims - d, step)) / 4, lane);
      __syncwarp();  // all have read
    }
    if (first + lane < total) reranking.out.data[q * reranking.out.stride + j] = key_of(acc, t);
  }
}

template <From from, std::uint32_t stages>
cudaError_t start(const Queue& queue, const Reranking& reranking) {
  const std::uint32_t teams = divide_up(reranking.queries.rows, line_queries);
  // There are enough blocks for all multiprocessors, if every list is full.
  const std::uint64_t enough = divide_up<std::uint64_t>(24ull * queue.multiprocessors, teams);
  const std::uint64_t most =
      divide_up<std::uint64_t>(std::uint64_t{reranking.candidates.capacity} * line_queries, line_threads);
  const auto parts = static_cast<std::uint32_t>(std::min(enough, most));
  constexpr std::size_t line_bytes = line * sizeof(float);
  const bool alike = from == From::host && reranking.train.dims % line == 0;
  const auto early = static_cast<std::uint32_t>(
      alike ? reinterpret_cast<std::uintptr_t>(reranking.train.data) % line_bytes / sizeof(float4) : 0);
  return with_chain(reranking.metric, [&](auto chain) {
    return launch_in_turn(queue, rerank_lines<decltype(chain)::value, from, stages>,
                          std::uint64_t{teams} * parts, line_threads, stages * sizeof(Stage), reranking,
                          teams, parts, early);
  });
}

/// Up to three lines, all lines of a row should be loading at once; with more stages, fewer blocks fit.
template <From from>
cudaError_t start_with_stages(const Queue& queue, const Reranking& reranking) {
  if (reranking.train.dims <= line) return start<from, 2>(queue, reranking);
  return reranking.train.dims <= 2 * line ? start<from, 3>(queue, reranking)
                                          : start<from, 4>(queue, reranking);
}

}  // namespace

cudaError_t rerank_lines(const Queue& queue, const spi::RerankStep& step) {
  const Reranking reranking = reranking_of(step);
  return is_of_host(step.train.memory) ? start_with_stages<From::host>(queue, reranking)
                                       : start_with_stages<From::device>(queue, reranking);
}

}  // namespace kith::cuda
