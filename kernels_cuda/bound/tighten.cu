// tighten: join reranked candidates into the k best, and tell what still counts as near.
//
//   keys        [q, capacity]  of which counts [q, 1] say how many there are; counts become 0
//   best        [q, k]         in and out, or out where it is made afresh: ascending, padded with no_key
//   row_terms   [4, q]         for squared distances
//   threshold   [q, 1]         out; in, too, where it was guessed
//   lost        [q, 1]         becomes 1 where a count is above the capacity, or a guessed threshold becomes
//                              larger
//
// Up to k = 2048 a block takes a query, of 128 threads, or of 256 where k is large, or of 512 where queries
// are few besides. Candidates at or behind the k-th best are refused while they are read, four a thread; only
// where one passed are they and the best put in order, in shared memory (shortlist.cuh).
// Work: the candidates, read once; one sort of those that passed and k, or each counted among all where they
// are few. Shared memory: 4 to 32 KiB. Beyond, best and candidates are put side by side in scratch and sorted
// whole (radix_sort.cuh), as many queries a round as fit; the first k are the best. Source of the threshold:
// docs/certificate.md, section 4.
#include "bound/threshold.cuh"
#include "common/radix_sort.cuh"
#include "common/shortlist.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t threads = 128, each = 4;
constexpr std::uint32_t short_list = 32;  // keys that are sooner counted than sorted

/// Offer those of `count` keys that are below the bound.
template <std::uint32_t block>
__device__ __forceinline__ void offer_keys(Shortlist<1>& shortlist, const Key* keys, std::uint32_t count,
                                           bool seeded) {
  for (std::uint64_t i0 = 0; i0 < count; i0 += block * each) {
    Key key[each];
    Key least = no_key;
#pragma unroll
    for (std::uint32_t v = 0; v < each; ++v) {
      const std::uint64_t i = i0 + v * block + threadIdx.x;
      key[v] = i < count ? keys[i] : no_key;
      least = min(least, key[v]);
    }
    if (!seeded) shortlist.seed([&](int) { return static_cast<std::uint32_t>(least >> 32); });
    seeded = true;
    const Key bound = shortlist.bound(0);
    std::uint32_t pending = 0;
#pragma unroll
    for (std::uint32_t v = 0; v < each; ++v)
      if (key[v] < bound) pending |= 1u << v;
    shortlist.offer<each>(pending, [&](int, int v) { return key[v]; });
  }
}

/// Sort the `size` smallest of size + 1 to 2 * size keys in shared memory to the front: so many of them,
/// those behind these, and of both together the smaller half. Called by all threads.
///   size  a power of two, 2 or more
__device__ __forceinline__ void sort_front(Key* keys, std::uint32_t size, std::uint32_t found) {
  const std::uint32_t rest = max(2u, power_of_two(found - size));
  for (std::uint32_t i = found + threadIdx.x; i < size + rest; i += blockDim.x) keys[i] = no_key;
  sort_lists(keys, 1, size, size);
  sort_lists(keys + size, 1, rest, rest);
  // Of keys[j] and its mirror among the rest the smaller: together the smallest, rising and then falling.
  for (std::uint32_t j = threadIdx.x; j < rest; j += blockDim.x)
    keys[size - 1 - j] = min(keys[size - 1 - j], keys[size + j]);
  __syncthreads();
  for (std::uint32_t step = size / 2; step > 0; step /= 2) {
    for (std::uint32_t i = threadIdx.x; i < size / 2; i += blockDim.x) {
      Key* const first = keys + (2 * i - (i & (step - 1)));
      const Key a = first[0], b = first[step];
      if (b < a) {
        first[0] = b;
        first[step] = a;
      }
    }
    // Up to 32 apart, each warp keeps to its own 64 keys.
    if (step > 32) {
      __syncthreads();
    } else {
      __syncwarp();
    }
  }
  __syncthreads();
}

template <std::uint32_t block>
__global__ __launch_bounds__(block) void tighten_shortlist(const Tightening tightening,
                                                           const LimitTerms terms,
                                                           const std::uint32_t capacity) {
  extern __shared__ Key buffer[];
  __shared__ ShortlistState<1> state;
  __shared__ Key kth;
  take_turn();
  const std::size_t q = blockIdx.x;
  const std::uint32_t k = tightening.k, count = tightening.counts.data[q * tightening.counts.stride];
  Key* const best = tightening.best.data + q * tightening.best.stride;
  const std::uint32_t listed = min(count, tightening.capacity);
  Key last = tightening.afresh ? no_key : best[k - 1];

  Shortlist<1> shortlist(state, buffer, capacity, k);
  shortlist.start([](std::uint32_t) { return true; }, last);
  // A first bound pays where there is more than one step to read, or much more than is kept.
  offer_keys<block>(shortlist, tightening.keys.data + q * tightening.keys.stride, listed,
                    listed <= block * each && listed <= max(block, 4 * k));
  const bool some = shortlist.found() > 0;
  __syncthreads();
  if (some || tightening.afresh) {
    // What passed is before the last of the best, so that one is out: there are k without it.
    if (!tightening.afresh) offer_keys<block>(shortlist, best, k, true);
    const std::uint32_t size = power_of_two(k), found = shortlist.found();
    const auto keep = [&](std::uint32_t, std::uint32_t j, Key key) {
      best[j] = key;
      if (j == k - 1) kth = key;
    };
    if (size > short_list && found > size && found <= 2 * size) {
      sort_front(buffer, size, found);
      for (std::uint32_t j = threadIdx.x; j < k; j += block) keep(0, j, shortlist.at(0, j));
    } else {
      shortlist.deliver(keep);
    }
    __syncthreads();
    last = kth;
  }
  if (threadIdx.x == 0) settle(tightening, terms, q, count, last);
}

/// Lists of best and candidates, [rows, k + capacity], padded with no_key: queries q0 and following.
__global__ __launch_bounds__(threads) void gather_lists(const Tightening tightening, const std::uint32_t q0,
                                                        const std::uint32_t columns, const std::uint64_t all,
                                                        Key* lists) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= all) return;
  const std::size_t q = q0 + i / columns;
  const auto column = static_cast<std::uint32_t>(i % columns);
  Key key = no_key;
  if (column < tightening.k) {
    if (!tightening.afresh) key = tightening.best.data[q * tightening.best.stride + column];
  } else if (column - tightening.k < tightening.counts.data[q * tightening.counts.stride]) {
    key = tightening.keys.data[q * tightening.keys.stride + (column - tightening.k)];
  }
  lists[i] = key;
}

/// Copy the first k of each sorted list back to the best.
__global__ __launch_bounds__(threads) void keep_best(const Tightening tightening, const LimitTerms terms,
                                                     const std::uint32_t q0, const std::uint32_t columns,
                                                     const std::uint64_t all, const Key* sorted) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= all) return;
  const std::size_t q = q0 + i / tightening.k;
  const auto j = static_cast<std::uint32_t>(i % tightening.k);
  const Key key = sorted[i / tightening.k * columns + j];
  tightening.best.data[q * tightening.best.stride + j] = key;
  if (j + 1 == tightening.k)
    settle(tightening, terms, q, tightening.counts.data[q * tightening.counts.stride], key);
}

Tightening tightening_of(const spi::TightenStep& step) {
  return {is_of_squares(step) ? Limit::squared : Limit::value,
          step.dims,
          count_of(step.best.rows),
          step.k,
          input_of(step.keys),
          capacity_of(step.keys.cols),
          matrix_of(step.counts),
          matrix_of(step.best),
          input_of(step.query_terms),
          matrix_of(step.threshold),
          matrix_of(step.lost),
          step.afresh,
          step.guessed};
}

SortShape shape_of(const Tightening& tightening, std::uint32_t rows) {
  const std::uint32_t columns = tightening.k + tightening.capacity;
  return {rows, columns, 1, columns};
}

/// Queries of a round: 2^22 keys, or one query.
std::uint32_t rows_a_round(const Tightening& tightening) {
  const std::uint64_t columns = std::uint64_t{tightening.k} + tightening.capacity;
  const std::uint64_t rows = (std::uint64_t{1} << 22) / columns;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(rows, 1, tightening.rows));
}

template <std::uint32_t block>
cudaError_t start(const Queue& queue, const Tightening& tightening) {
  const std::uint32_t capacity = std::max<std::uint32_t>(block * each, 2 * power_of_two(tightening.k));
  return launch_in_turn(queue, tighten_shortlist<block>, tightening.rows, block, capacity * sizeof(Key),
                        tightening, limit_terms(tightening.dims), capacity);
}

}  // namespace

cudaError_t tighten_at_once(const Queue& queue, const spi::TightenStep& step) {
  const Tightening tightening = tightening_of(step);
  if (tightening.k <= 256) return start<threads>(queue, tightening);
  const bool few = tightening.rows <= 4 * queue.multiprocessors;
  if (tightening.k > 1024 && few) return start<4 * threads>(queue, tightening);
  return start<2 * threads>(queue, tightening);
}

std::size_t tighten_by_sorting_scratch(const spi::TightenStep& step) {
  const Tightening tightening = tightening_of(step);
  const std::uint32_t round = rows_a_round(tightening), rest = tightening.rows % round;
  const std::size_t bytes = sort_bytes(shape_of(tightening, round));
  return rest == 0 ? bytes : std::max(bytes, sort_bytes(shape_of(tightening, rest)));
}

cudaError_t tighten_by_sorting(const Queue& queue, const spi::TightenStep& step) {
  const Tightening tightening = tightening_of(step);
  const LimitTerms terms = limit_terms(tightening.dims);
  const std::uint32_t round = rows_a_round(tightening);
  for (std::uint32_t q0 = 0; q0 < tightening.rows; q0 += std::min(round, tightening.rows - q0)) {
    const std::uint32_t rows = std::min(round, tightening.rows - q0);
    const SortShape shape = shape_of(tightening, rows);
    const SortMemory memory(shape, step.scratch);
    const std::uint64_t keys = shape.keys(), kept = std::uint64_t{rows} * tightening.k;
    cudaError_t error = launch(queue, gather_lists, divide_up<std::uint64_t>(keys, threads), threads, 0,
                               tightening, q0, shape.columns, keys, memory.keys);
    if (error == cudaSuccess) error = sort_parts(queue, shape, memory, 0);
    if (error == cudaSuccess)
      error = launch(queue, keep_best, divide_up<std::uint64_t>(kept, threads), threads, 0, tightening, terms,
                     q0, shape.columns, kept, memory.sorted);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace kith::cuda
