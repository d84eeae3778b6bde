// nearest, for several queries and so few rows that all chains fit into the registers of the device.
//
//   queries [q, dims]   train [t, dims]   blocks of 32 rows
//   out     [q, k]      keys, ascending, padded with no_key
//
// A single launch does what nearest_rows.cu and `merge` do together. All blocks run at the same time, and
// wait for each other twice:
// 1. Block b computes the chains of query batch b % batches with the rows of piece b / batches, two rows a
//    thread, keeps them in registers, and tells the smallest of each query.
// 2. The pieces form 32 parts. The k-th smallest of the minima of the parts is at or above the k-th smallest
//    value of all, since k rows are at or below it; of rows in random order, hardly more than k are (k = 16:
//    22). Each block appends the keys up to it to the query's list, and at most its k smallest, so that the
//    list has room whatever the order of the rows is.
// 3. One block for each query orders its list.
// A kernel that also selects without a threshold takes as many instructions for that as for the chains.
// Work: q * t * dims multiply-adds; each batch reads t * dims floats, from the cache except for the first.
// Shared memory: that of nearest_rows.cu, and one number a query. Source: the threshold from minima of parts
// is that of shortlist.cuh, for all blocks at once.
// No twin in kernels_cl: OpenCL has no barrier for all work-groups.
#include "nearest/nearest_at_once.hpp"

#include <cooperative_groups.h>

#include "nearest/row_shapes.cuh"

namespace kith::cuda {
namespace {

constexpr int batch = Short::batch, each = Short::each;
constexpr std::uint32_t lanes = 32, capacity = 256;
constexpr std::uint32_t least_rows = 64;  // of a piece, so that even few rows form 32 parts
constexpr std::uint32_t most_rows = (Short::most_threads - 1) * Short::width;
static_assert(at_once_max_k <= lanes && at_once_max_k < capacity);

struct AtOnce {
  Rows queries, train;
  std::uint32_t shift;  // the number of a row of `train` is its index plus this
  std::uint32_t k, pieces, batches;
  Matrix<Key> out;
  std::uint32_t* least;   // [batches * batch, pieces]  smallest value of each query and piece
  std::uint32_t* counts;  // [batches * batch]
  Key* found;             // [batches * batch, pieces * k]

  __device__ Key* list(std::uint32_t q) const { return found + std::size_t{q} * pieces * k; }
};

/// The queries and rows of a block, and the rows of a thread.
struct Share {
  std::uint32_t piece, place, query;  // place: of the batch's first query among all lists
  std::uint32_t begin, end, row;

  __device__ explicit Share(const AtOnce& all)
      : piece(blockIdx.x / all.batches), place(blockIdx.x % all.batches * batch) {
    query = all.queries.first / batch * batch + place;
    const Columns columns = columns_of(piece, all.pieces, all.train.rows);
    begin = all.train.first + columns.begin;
    end = all.train.first + columns.end;
    row = begin / Short::width * Short::width + threadIdx.x * Short::width;
  }
  __device__ bool has(int j) const { return row + j >= begin && row + j < end; }
};

/// Tells the smallest value of each query among the block's rows.
///   least  [batch], in shared memory; they are no_value
__device__ void tell_least(const AtOnce& all, const Share& share, const float (&acc)[batch][each],
                           std::uint32_t* least) {
#pragma unroll
  for (int q = 0; q < batch; ++q) {
    std::uint32_t mine = no_value;
#pragma unroll
    for (int j = 0; j < each; ++j)
      if (share.has(j)) mine = min(mine, ordered_bits(acc[q][j]));
#if __CUDA_ARCH__ >= 800
    mine = __reduce_min_sync(0xFFFFFFFFu, mine);
    if (threadIdx.x % lanes == 0) atomicMin(least + q, mine);
#else
    atomicMin(least + q, mine);
#endif
  }
  __syncthreads();
  if (threadIdx.x < batch) {
    all.least[std::size_t{share.place + threadIdx.x} * all.pieces + share.piece] = least[threadIdx.x];
    if (share.piece == 0) all.counts[share.place + threadIdx.x] = 0;
  }
}

/// Returns the k-th smallest of the minima of 32 parts of the pieces of a query; no_value if fewer parts have
/// rows. All lanes of a warp call this.
__device__ std::uint32_t threshold_of(const AtOnce& all, std::uint32_t list) {
  const std::uint32_t lane = threadIdx.x % lanes;
  const std::uint32_t* least = all.least + std::size_t{list} * all.pieces;
  std::uint32_t mine = no_value, rank = 0;
  for (std::uint32_t piece = lane; piece < all.pieces; piece += lanes)
    mine = min(mine, __ldcg(least + piece));
#pragma unroll
  for (std::uint32_t other = 0; other < lanes; ++other) {
    const std::uint32_t value = __shfl_sync(0xFFFFFFFFu, mine, static_cast<int>(other));
    rank += value < mine || (value == mine && other < lane);
  }
  const unsigned at = __ballot_sync(0xFFFFFFFFu, rank + 1 == all.k);
  return __shfl_sync(0xFFFFFFFFu, mine, __ffs(static_cast<int>(at)) - 1);
}

/// Lowers the bounds of the block's queries to their thresholds.
__device__ void set_bounds(const AtOnce& all, const Share& share, ShortlistState<batch>& state) {
  for (std::uint32_t q = threadIdx.x / lanes; q < batch; q += blockDim.x / lanes) {
    const Key bound = last_key_of(threshold_of(all, share.place + q));
    if (threadIdx.x % lanes != 0 || bound >= state.bound[q]) continue;
    state.bound[q] = bound;
    state.value[q] = bound_value(bound);
  }
  __syncthreads();
}

/// Appends the keys of the block, at most k for a query, to the lists.
__device__ void append(const AtOnce& all, const Share& share, const ShortlistState<batch>& state,
                       const Key* buffers) {
  __shared__ std::uint32_t places[batch];
  if (threadIdx.x < batch) {
    const std::uint32_t count = state.count[threadIdx.x];
    places[threadIdx.x] = count == 0 ? 0 : atomicAdd(all.counts + share.place + threadIdx.x, count);
  }
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < batch * all.k; i += blockDim.x) {
    const std::uint32_t q = i / all.k, j = i - q * all.k;
    if (j < state.count[q]) all.list(share.place + q)[places[q] + j] = buffers[q * capacity + j];
  }
}

/// Writes the k smallest keys of list `list` as query q.
__device__ void order(const AtOnce& all, std::uint32_t list, std::uint32_t q, ShortlistState<1>& state,
                      Key* buffer) {
  const std::uint32_t count = __ldcg(all.counts + list);
  const Key* const keys = all.list(list);
  Shortlist<1> shortlist(state, buffer, capacity, all.k);
  shortlist.start([](std::uint32_t) { return true; });
  for (std::uint32_t i0 = 0; i0 < count; i0 += blockDim.x) {
    const std::uint32_t i = i0 + threadIdx.x;
    const Key key = i < count ? __ldcg(keys + i) : no_key;
    if (i0 == 0 && count > capacity)
      shortlist.seed([&](int) { return static_cast<std::uint32_t>(key >> 32); });
    shortlist.offer<1>(key < shortlist.bound(0) ? 1u : 0u, [&](int, int) { return key; });
  }
  Key* const to = all.out.data + q * all.out.stride;
  shortlist.deliver([&](std::uint32_t, std::uint32_t j, Key key) { to[j] = key; });
  __syncthreads();
}

template <Metric metric>
__global__ __launch_bounds__(Short::most_threads, Short::blocks) void nearest_of_all(const AtOnce all) {
  extern __shared__ __align__(16) Key buffers[];
  __shared__ ShortlistState<batch> state;
  __shared__ ShortlistState<1> last;
  __shared__ std::uint32_t least[batch];
  const auto grid = cooperative_groups::this_grid();
  const Share share(all);
  const auto is_query = [&](std::uint32_t q) {
    return share.query + q >= all.queries.first && share.query + q < all.queries.first + all.queries.rows;
  };
  auto* const staged = reinterpret_cast<float*>(buffers + batch * capacity);
  if (threadIdx.x < batch) least[threadIdx.x] = no_value;
  if (staged_bytes(batch, all.queries.dims) > 0) stage_queries<batch>(staged, all.queries, share.query);
  __syncthreads();

  float acc[batch][each];
  if (share.row < share.end) {
    const float* const row[] = {row_at(all.train, share.row)};
    shape_chains<metric, Short>(acc, all.queries, share.query, staged, row);
  }
  tell_least(all, share, acc, least);
  grid.sync();

  Shortlist<batch> shortlist(state, buffers, capacity, all.k);
  shortlist.start(is_query);
  set_bounds(all, share, state);
  std::uint32_t pending = 0;
#pragma unroll
  for (int q = 0; q < batch; ++q) {
    const float limit = shortlist.value(q);
#pragma unroll
    for (int j = 0; j < each; ++j)
      if (share.has(j) && acc[q][j] <= limit) pending |= 1u << (q * each + j);
  }
  shortlist.offer<each>(pending, [&](int q, int j) { return key_of(acc[q][j], share.row + j + all.shift); });
  bool longer = false;
#pragma unroll
  for (int q = 0; q < batch; ++q) longer |= state.count[q] > all.k;
  if (longer) shortlist.tighten();
  append(all, share, state, buffers);
  grid.sync();

  const std::uint32_t before = all.queries.first % batch;
  for (std::uint32_t q = blockIdx.x; q < all.queries.rows; q += gridDim.x)
    order(all, before + q, q, last, buffers);
}

/// Returns the shared memory of a block, with room for the queries of all steps.
std::size_t most_shared_bytes() {
  return batch * capacity * sizeof(Key) + staged_bytes(batch, staged_dims) + sizeof(ShortlistState<batch>) +
         1024;
}

/// Returns the number of blocks that run at the same time.
std::uint32_t blocks_at_once(std::uint32_t multiprocessors, std::size_t shared_bytes) {
  const auto fit = static_cast<std::uint32_t>(shared_bytes / most_shared_bytes());
  return multiprocessors * std::min(fit, Short::blocks);
}

/// How a step is divided among blocks.
struct Division {
  std::uint32_t batches, pieces, rows;  // rows: of a piece

  Division(const Queue& queue, const spi::NearestStep& step)
      : batches(batches_of(rows_of(step.queries), batch)) {
    const std::uint32_t most = blocks_at_once(queue.multiprocessors, queue.shared_bytes) / batches;
    pieces = std::clamp(step.train.rows / least_rows, 1u, std::max(most, 1u));
    rows = divide_up(step.train.rows, pieces);
  }
};

template <class Kernel>
cudaError_t launch_together(const Queue& queue, Kernel* kernel, std::uint32_t blocks, std::uint32_t threads,
                            std::size_t shared_bytes, const AtOnce& all) {
  const cudaError_t allowed =
      with_room(queue, [&] { return allow_shared_memory(queue, reinterpret_cast<const void*>(kernel)); });
  if (allowed != cudaSuccess) return allowed;
  cudaLaunchAttribute together = {};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = queue.stream;
  config.attrs = &together;
  config.numAttrs = 1;
  return with_room(queue, [&] { return cudaLaunchKernelEx(&config, kernel, all); });
}

}  // namespace

std::uint32_t pairs_at_once(std::uint32_t multiprocessors, std::size_t shared_bytes) {
  // Up to so many blocks are idle, because each of four batches gets as many.
  constexpr std::uint32_t idle = spi::small_batch / batch - 1;
  const std::uint32_t blocks = blocks_at_once(multiprocessors, shared_bytes);
  return blocks > idle ? (blocks - idle) * batch * most_rows : 0;
}

bool fits_at_once(const Queue& queue, const spi::NearestStep& step) {
  return step.lists == 1 && step.k <= at_once_max_k && step.queries.rows > 4 &&
         step.train.rows >= lanes * least_rows && Division(queue, step).rows <= most_rows;
}

std::size_t nearest_at_once_scratch(const Queue& queue, const spi::NearestStep& step) {
  const std::size_t lists = std::size_t{blocks_at_once(queue.multiprocessors, queue.shared_bytes)} * batch;
  const std::size_t a_list = sizeof(std::uint32_t) + step.k * sizeof(Key);
  return lists * a_list + std::size_t{Division(queue, step).batches} * batch * sizeof(std::uint32_t);
}

cudaError_t nearest_at_once(const Queue& queue, const spi::NearestStep& step) {
  const Rows queries = rows_of(step.queries), train = rows_of(step.train);
  const Division of(queue, step);
  const std::size_t lists = std::size_t{of.batches} * batch;
  Key* const found = address_of<Key>(step.scratch);
  auto* const least = reinterpret_cast<std::uint32_t*>(found + lists * of.pieces * step.k);
  const AtOnce all{queries,
                   train,
                   step.first_row - train.first,
                   step.k,
                   of.pieces,
                   of.batches,
                   matrix_of(step.out),
                   least,
                   least + lists * of.pieces,
                   found};
  const std::size_t bytes = batch * capacity * sizeof(Key) + staged_bytes(batch, train.dims);
  const cudaError_t error = with_chain(step.metric, [&](auto chain) {
    return launch_together(queue, nearest_of_all<decltype(chain)::value>, of.pieces * of.batches,
                           threads_for<Short>(of.rows), bytes, all);
  });
  if (error != cudaErrorCooperativeLaunchTooLarge) return error;
  // The process may use only a part of the device, as clients of a multi-process service may.
  cudaGetLastError();
  return nearest_rows(queue, step);
}

}  // namespace kith::cuda
