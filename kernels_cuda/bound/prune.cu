// prune: removes from each list the candidates whose lower bound `low` is above the query's threshold. The
// order of the others may change.
//
// threshold [q, 1]
// lists [q, capacity] with bounds, in and out; a count above the capacity is read as the capacity
//
// One warp handles one list; if lists are few and may be long, one block does. Each thread takes four places
// at a time, or eight if there are so few lists that each has a multiprocessor to itself. After all threads
// have read theirs, the candidates that stay are written to the first free places; none of these lies behind
// a place that is still unread. With only_rows bounds do not follow their candidates.
// Work: one comparison per candidate; 16 or 4 bytes are read, and written, for each that stays. Barriers: a
// block has two for every 1024 places, or every 8192, since it waits for memory at each.
#include "propose/candidates.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t prune_warp_threads = 128, prune_warp_each = 4;
constexpr std::uint32_t long_list = 2048;

struct Pruning {
  std::uint32_t rows;
  Matrix<const float> threshold;  ///< [rows, 1]
  BoundedLists lists;
};

/// A list of candidates and its threshold.
struct List {
  std::uint32_t* rows;
  float* lows;
  Key* highs;
  std::uint32_t* count;
  float threshold;

  __device__ __forceinline__ List(const Pruning& pruning, std::size_t q)
      : rows(pruning.lists.lists.rows.data + q * pruning.lists.lists.rows.stride),
        lows(pruning.lists.low.data + q * pruning.lists.low.stride),
        highs(pruning.lists.high.data + q * pruning.lists.high.stride),
        count(pruning.lists.lists.counts.data + q * pruning.lists.lists.counts.stride),
        threshold(pruning.threshold.data[q * pruning.threshold.stride]) {}
};

/// The up to `each` candidates that a thread reads from places first + i * threads.
template <std::uint32_t each, bool only_rows>
struct Kept {
  std::uint32_t row[each];
  float low[each];
  Key high[each];
  bool near[each];

  __device__ __forceinline__ void read(const List& list, std::uint32_t first, std::uint32_t threads,
                                       std::uint32_t listed) {
#pragma unroll
    for (std::uint32_t i = 0; i < each; ++i) {
      const std::uint32_t j = first + i * threads;
      low[i] = j < listed ? list.lows[j] : not_a_candidate();
    }
#pragma unroll
    for (std::uint32_t i = 0; i < each; ++i) {
      const std::uint32_t j = first + i * threads;
      near[i] = low[i] <= list.threshold;
      row[i] = near[i] ? list.rows[j] : 0;
      if constexpr (!only_rows) high[i] = near[i] ? list.highs[j] : 0;
    }
  }

  /// Returns how many candidates of the warp are near. before[i] becomes the number of these that stand
  /// before this lane's candidate i.
  __device__ __forceinline__ std::uint32_t count(std::uint32_t (&before)[each]) const {
    std::uint32_t total = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < each; ++i) {
      const std::uint32_t vote = __ballot_sync(whole_warp, near[i]);
      before[i] = total + static_cast<std::uint32_t>(__popc(vote & ((1u << threadIdx.x % 32) - 1)));
      total += static_cast<std::uint32_t>(__popc(vote));
    }
    return total;
  }

  __device__ __forceinline__ void write(const List& list, std::uint32_t to,
                                        const std::uint32_t (&before)[each]) const {
#pragma unroll
    for (std::uint32_t i = 0; i < each; ++i) {
      if (!near[i]) continue;
      list.rows[to + before[i]] = row[i];
      if constexpr (!only_rows) {
        list.lows[to + before[i]] = low[i];
        list.highs[to + before[i]] = high[i];
      }
    }
  }
};

template <bool only_rows>
__global__ __launch_bounds__(prune_warp_threads) void prune_by_warps(const Pruning pruning) {
  take_turn();
  const std::uint32_t q = (blockIdx.x * prune_warp_threads + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (q >= pruning.rows) return;
  const List list(pruning, q);
  const std::uint32_t listed = min(*list.count, pruning.lists.lists.capacity);
  std::uint32_t kept = 0;
  for (std::uint32_t j0 = 0; j0 < listed; j0 += 32 * prune_warp_each) {
    Kept<prune_warp_each, only_rows> mine;
    std::uint32_t before[prune_warp_each];
    mine.read(list, j0 + lane, 32, listed);
    const std::uint32_t some = mine.count(before);  // all lanes have read
    mine.write(list, kept, before);
    kept += some;
    __syncwarp();
  }
  if (lane == 0) *list.count = kept;
}

template <std::uint32_t threads, std::uint32_t each, bool only_rows>
__global__ __launch_bounds__(threads) void prune_by_blocks(const Pruning pruning) {
  constexpr std::uint32_t warps = threads / 32;
  __shared__ std::uint32_t found[warps];
  take_turn();
  const List list(pruning, blockIdx.x);
  const std::uint32_t listed = min(*list.count, pruning.lists.lists.capacity), warp = threadIdx.x / 32;
  std::uint32_t kept = 0;
  for (std::uint32_t j0 = 0; j0 < listed; j0 += threads * each) {
    Kept<each, only_rows> mine;
    std::uint32_t before[each], here = 0, all = 0;
    mine.read(list, j0 + threadIdx.x, threads, listed);
    const std::uint32_t some = mine.count(before);
    if (threadIdx.x % 32 == 0) found[warp] = some;
    __syncthreads();  // all threads have read
#pragma unroll
    for (std::uint32_t w = 0; w < warps; ++w) {
      if (w == warp) here = all;
      all += found[w];
    }
    mine.write(list, kept + here, before);
    kept += all;
    __syncthreads();
  }
  if (threadIdx.x == 0) *list.count = kept;
}

template <bool only_rows>
cudaError_t start(const Queue& queue, const Pruning& pruning) {
  const bool blocks = pruning.lists.lists.capacity > long_list && pruning.rows <= 16 * queue.multiprocessors;
  if (blocks && pruning.rows <= queue.multiprocessors)
    return launch_in_turn(queue, prune_by_blocks<1024, 8, only_rows>, pruning.rows, 1024, 0, pruning);
  if (blocks) return launch_in_turn(queue, prune_by_blocks<256, 4, only_rows>, pruning.rows, 256, 0, pruning);
  return launch_in_turn(queue, prune_by_warps<only_rows>, divide_up(pruning.rows, prune_warp_threads / 32),
                        prune_warp_threads, 0, pruning);
}

}  // namespace

cudaError_t prune(const Queue& queue, const spi::PruneStep& step) {
  const Pruning pruning{count_of(step.lists.rows.rows), input_of(step.threshold),
                        bounded_lists_of(step.lists, step.bounds)};
  return step.only_rows ? start<true>(queue, pruning) : start<false>(queue, pruning);
}

}  // namespace kith::cuda
