// chains_f64: computes the chains in double precision of listed rows.
//
//   queries [m, dims]   train [n, dims]   doubles, rows `stride` apart
//   rows    [m, width]  training rows; no chain is computed for one that `train` lacks
//   values  [m, width]  out: the raw values, in the places of the rows
//
// All pairs of a query and a place of its list form one sequence, so that short lists fill warps, too. One
// lane handles one pair, because the order of a chain is fixed. Rows are anywhere in memory. Of wide rows,
// half a warp copies 128 bytes of one row at a time into shared memory while earlier columns are accumulated,
// so that lines are requested as a whole; then each lane accumulates the row of its own pair. A row of shared
// memory is one column longer, so that reads have no bank conflicts. A block is a single warp, which needs no
// barrier. Narrow rows are read by their own lanes, all columns before the first is accumulated.
// Work: dims multiply-adds a pair, and dims * 8 bytes read. Shared memory: 13 KiB for wide rows. On an H200
// 140,000 pairs of 128 columns took 0.06 ms, those of 784 columns 0.30 ms, and 2 * 10^7 of 3 columns 0.46 ms.
// Source: Seidl, Kriegel, Optimal multi-step k-nearest neighbor search, 1998.
#include <cuda_pipeline.h>

#include "common/metric.cuh"

namespace kith::cuda {
namespace {

/// Completes the table of metrics: rows of doubles hold no bits.
__device__ inline double bits_apart(double, double) {
  return 0;
}

/// The chain of a metric in double precision: as Chain.
template <Metric metric>
struct DoubleChain;

#define KITH_METRIC(id, prepare, first, accumulate, finish)                              \
  template <>                                                                            \
  struct DoubleChain<Metric::id> {                                                       \
    static __device__ double start() { return first; }                                   \
    static __device__ double next(double acc, double a, double b) { return accumulate; } \
  };
#include "kith/metrics.def"
#undef KITH_METRIC

/// Columns that are copied together, and copies that are under way: enough to keep the memory busy.
constexpr std::uint32_t copied_columns = 16, stages = 3, rows_a_copy = 32 / copied_columns;
constexpr std::uint32_t narrow_dims = 8, narrow_threads = 256;

struct DoubleChains {
  Matrix<const double> queries, train;
  std::uint32_t n, dims, first_row;
  Matrix<const std::uint32_t> rows;
  std::uint64_t pairs;
  std::uint32_t width;
  Matrix<double> values;
};

/// A place of a list, with the row of `train` that is there.
struct Pair {
  std::uint64_t q;
  std::uint32_t j, row;  ///< no_row: there is none

  __device__ __forceinline__ Pair(const DoubleChains& chains, std::uint64_t place)
      : q(place / chains.width), j(static_cast<std::uint32_t>(place % chains.width)), row(no_row) {
    if (place >= chains.pairs) return;
    const std::uint32_t r = chains.rows.data[q * chains.rows.stride + j] - chains.first_row;
    if (r < chains.n) row = r;
  }
};

template <Metric metric>
__global__ __launch_bounds__(narrow_threads) void chains_of_narrow_rows(const DoubleChains chains) {
  const Pair pair(chains, std::uint64_t{blockIdx.x} * narrow_threads + threadIdx.x);
  if (pair.row == no_row) return;
  const double* const query = chains.queries.data + pair.q * chains.queries.stride;
  const double* const row = chains.train.data + pair.row * chains.train.stride;
  double a[narrow_dims], b[narrow_dims];
#pragma unroll
  for (std::uint32_t d = 0; d < narrow_dims; ++d) {
    a[d] = d < chains.dims ? __ldg(query + d) : 0;
    b[d] = d < chains.dims ? __ldg(row + d) : 0;
  }
  double acc = DoubleChain<metric>::start();
#pragma unroll
  for (std::uint32_t d = 0; d < narrow_dims; ++d)
    if (d < chains.dims) acc = DoubleChain<metric>::next(acc, a[d], b[d]);
  chains.values.data[pair.q * chains.values.stride + pair.j] = acc;
}

/// The same columns of 32 rows.
struct ChainStage {
  double rows[32][copied_columns + 1];
};

/// Copies the rows of a warp's pairs.
class Copier {
 public:
  __device__ __forceinline__ Copier(const DoubleChains& chains, std::uint32_t row)
      : train_(chains.train), dims_(chains.dims), column_(threadIdx.x % copied_columns) {
#pragma unroll
    for (std::uint32_t i = 0; i < 32 / rows_a_copy; ++i)
      row_[i] = __shfl_sync(0xFFFFFFFFu, row, rows_a_copy * i + threadIdx.x / copied_columns);
  }

  /// Begins to copy columns d0 ... d0 + line - 1, as far as they exist.
  __device__ __forceinline__ void copy(ChainStage& to, std::uint32_t d0) const {
    if (d0 + column_ < dims_) {
#pragma unroll
      for (std::uint32_t i = 0; i < 32 / rows_a_copy; ++i)
        if (row_[i] != no_row)
          __pipeline_memcpy_async(&to.rows[rows_a_copy * i + threadIdx.x / copied_columns][column_],
                                  train_.data + row_[i] * train_.stride + d0 + column_, sizeof(double));
    }
    __pipeline_commit();
  }

 private:
  const Matrix<const double> train_;
  const std::uint32_t dims_, column_;
  std::uint32_t row_[32 / rows_a_copy];
};

/// Returns the chain after columns d0 ... d0 + line - 1, of which `count` exist.
///   count  a constant where all exist, which avoids branches
template <Metric metric>
__device__ __forceinline__ double accumulated(double acc, const double* query, const ChainStage& stage,
                                              std::uint32_t count) {
  double a[copied_columns];
#pragma unroll
  for (std::uint32_t d = 0; d < copied_columns; ++d) a[d] = d < count ? __ldg(query + d) : 0;
  __pipeline_wait_prior(stages - 1);
  __syncwarp();  // other lanes' copies are visible
#pragma unroll
  for (std::uint32_t d = 0; d < copied_columns; ++d)
    if (d < count) acc = DoubleChain<metric>::next(acc, a[d], stage.rows[threadIdx.x][d]);
  __syncwarp();  // all have read
  return acc;
}

template <Metric metric>
__global__ __launch_bounds__(32) void chains_of_wide_rows(const DoubleChains chains) {
  __shared__ ChainStage stage[stages];
  const Pair pair(chains, std::uint64_t{blockIdx.x} * 32 + threadIdx.x);
  // A lane without a pair reads a query that exists.
  const double* const query = chains.queries.data + (pair.row == no_row ? 0 : pair.q) * chains.queries.stride;
  const Copier rows(chains, pair.row);
#pragma unroll
  for (std::uint32_t s = 0; s + 1 < stages; ++s) rows.copy(stage[s], s * copied_columns);
  double acc = DoubleChain<metric>::start();
  for (std::uint32_t d = 0, s = 0; d < chains.dims; d += copied_columns, s = (s + 1) % stages) {
    rows.copy(stage[(s + stages - 1) % stages], d + (stages - 1) * copied_columns);
    if (chains.dims - d >= copied_columns)
      acc = accumulated<metric>(acc, query + d, stage[s], copied_columns);
    else
      acc = accumulated<metric>(acc, query + d, stage[s], chains.dims - d);
  }
  if (pair.row != no_row) chains.values.data[pair.q * chains.values.stride + pair.j] = acc;
}

}  // namespace

cudaError_t double_chains(const Queue& queue, const spi::DoubleChainsStep& step) {
  const DoubleChains chains{input_of(step.queries),
                            input_of(step.train),
                            count_of(step.train.rows),
                            count_of(step.train.cols),
                            step.first_row,
                            input_of(step.rows),
                            std::uint64_t{step.rows.rows} * step.rows.cols,
                            count_of(step.rows.cols),
                            matrix_of(step.values)};
  return with_chain(step.metric, [&](auto chain) {
    constexpr Metric metric = decltype(chain)::value;
    if (chains.dims <= narrow_dims)
      return launch(queue, chains_of_narrow_rows<metric>,
                    divide_up<std::uint64_t>(chains.pairs, narrow_threads), narrow_threads, 0, chains);
    return launch(queue, chains_of_wide_rows<metric>, divide_up<std::uint64_t>(chains.pairs, 32), 32, 0,
                  chains);
  });
}

}  // namespace kith::cuda
