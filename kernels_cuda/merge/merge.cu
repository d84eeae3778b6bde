// merge: merges the sorted lists of each row into one.
//
//   in   [q, lists * k]  keys, each list ascending, padded with no_key
//   out  [q, k]          the k smallest of all, ascending
//
// There are two kernels: many short lists go through a shortlist; few lists, or long ones, are merged
// by rank.
#include "common/shortlist.cuh"
#include "merge/merge_path.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t threads = 256;

// If rows are few, each gets a large block, and as many keys per step.
constexpr std::uint32_t few_row_threads = 1024, step_keys = 2048;

/// Block q offers all keys of row q, 2048 per step: the first keys of all lists, then the second ones, and
/// so on, so that the bound is low at once. It ends after a step whose last keys, one of each list, are
/// all refused.
/// Work: at most lists * k keys, read once; one barrier per step. Shared memory: capacity keys.
template <std::uint32_t threads>
__global__ __launch_bounds__(threads) void merge_shortlist(const Matrix<const Key> in,
                                                           const std::uint32_t lists, const std::uint32_t k,
                                                           const std::uint32_t capacity,
                                                           const Matrix<Key> out) {
  constexpr std::uint32_t each = step_keys / threads;
  extern __shared__ Key buffer[];
  __shared__ ShortlistState<1> state;
  take_turn();
  Shortlist<1> shortlist(state, buffer, capacity, k);
  shortlist.start([](std::uint32_t) { return true; });
  const Key* row = in.data + blockIdx.x * in.stride;
  const std::uint32_t keys = lists * k;

  bool seeded = false;
  for (std::uint32_t i0 = 0; i0 < keys; i0 += step_keys) {
    Key key[each];
    Key least = no_key;
#pragma unroll
    for (std::uint32_t v = 0; v < each; ++v) {
      const std::uint32_t i = i0 + v * threads + threadIdx.x;
      // If one step takes all keys, their order does not matter, and they are read as they are stored.
      const std::uint32_t at = keys <= step_keys ? i : i % lists * k + i / lists;
      key[v] = i < keys ? row[at] : no_key;
      least = min(least, key[v]);
    }
    const auto key_at = [&](int, int v) { return key[v]; };
    if (!seeded) shortlist.seed([&](int) { return static_cast<std::uint32_t>(least >> 32); });
    seeded = true;
    const Key bound = shortlist.bound(0);
    std::uint32_t pending = 0;
    bool more = lists > step_keys;
#pragma unroll
    for (std::uint32_t v = 0; v < each; ++v) {
      if (key[v] >= bound) continue;
      pending |= 1u << v;
      more |= v * threads + threadIdx.x + lists >= step_keys;
    }
    const bool goes_on = __syncthreads_or(more);
    shortlist.offer<each>(pending, key_at);
    if (!goes_on) break;
  }

  Key* list = out.data + blockIdx.x * out.stride;
  shortlist.deliver([&](std::uint32_t, std::uint32_t j, Key key) { list[j] = key; });
}

/// One thread handles one key. The rank of the key among all is its place in its own list, plus the number of
/// keys in each other list that come before it; equal ones (no_key) are ordered by list. The thread stops
/// when the rank reaches k.
/// Work: at most lists * log2(k) comparisons per key. No barrier, no shared memory. Source: merging by rank,
/// as in Satish, Harris, Garland, Designing efficient sorting algorithms for manycore GPUs, 2009.
__global__ __launch_bounds__(threads) void merge_ranks(const Matrix<const Key> in, const std::uint64_t all,
                                                       const std::uint32_t lists, const std::uint32_t k,
                                                       const Matrix<Key> out) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= all) return;
  const std::uint64_t keys = std::uint64_t{lists} * k, q = i / keys;
  const auto list = static_cast<std::uint32_t>(i % keys / k), own = static_cast<std::uint32_t>(i % keys % k);
  const Key* row = in.data + q * in.stride;
  const Key key = row[static_cast<std::size_t>(list) * k + own];
  std::uint64_t rank = own;
  for (std::uint32_t other = 0; other < lists && rank < k; ++other)
    if (other != list) rank += count_before(row + static_cast<std::size_t>(other) * k, k, key, other < list);
  if (rank < k) out.data[q * out.stride + rank] = key;
}

}  // namespace

bool may_overlap(std::uint32_t capability) {
  constexpr std::uint32_t first_that_waits = 90;  // take_turn() waits from this compute capability on
  cudaFuncAttributes compiled{};
  return capability >= first_that_waits &&
         cudaFuncGetAttributes(&compiled, merge_shortlist<threads>) == cudaSuccess &&
         compiled.ptxVersion >= static_cast<int>(first_that_waits);
}

cudaError_t merge_at_once(const Queue& queue, const spi::MergeStep& step) {
  const std::uint32_t rows = count_of(step.in.rows), capacity = std::max(512u, 2 * power_of_two(step.k));
  const bool few = rows <= 2 * queue.multiprocessors;
  return launch_in_turn(queue, few ? merge_shortlist<few_row_threads> : merge_shortlist<threads>, rows,
                        few ? few_row_threads : threads, capacity * sizeof(Key), input_of(step.in),
                        step.lists, step.k, capacity, matrix_of(step.out));
}

cudaError_t merge_by_rank(const Queue& queue, const spi::MergeStep& step) {
  const std::uint64_t all = std::uint64_t{step.in.rows} * step.lists * step.k;
  return launch(queue, merge_ranks, divide_up<std::uint64_t>(all, threads), threads, 0, input_of(step.in),
                all, step.lists, step.k, matrix_of(step.out));
}

}  // namespace kith::cuda
