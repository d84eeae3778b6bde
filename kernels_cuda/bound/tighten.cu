// tighten: merges reranked candidates into the k best of each query, and computes its new threshold.
//
//   keys        [q, capacity]  counts [q, 1] say how many each list has; counts become 0
//   best        [q, k]         in and out, or only out if it is made afresh: ascending, padded with no_key
//   row_terms   [4, q]         for squared distances
//   threshold   [q, 1]         out; also in if it was guessed
//   lost        [q, 1]         becomes 1 if a count is above the capacity, or a guessed threshold grows
//
// Up to k = 2048 one block handles one query: 128 threads, 256 if k is large, 512 if queries are few as well.
// Each thread reads four candidates at a time, and refuses those that are not below the k-th best. Only if
// one passes are candidates and best ordered, in shared memory (shortlist.cuh).
// Work: each candidate is read once; then one sort of k keys and those that passed, or, if these are few,
// each is compared with all others. Shared memory: 4 to 32 KiB. For larger k, best and candidates are copied
// side by side into scratch and sorted whole (radix_sort.cuh), as many queries per round as fit; the first k
// are the best. Source of the threshold: docs/certificate.md, section 4.
#include "bound/sort_front.cuh"
#include "bound/threshold.cuh"
#include "common/radix_sort.cuh"
#include "common/shortlist.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t threads = 128, each = 4;
constexpr std::uint32_t short_list = 32;  // counting orders so few keys faster than sorting does

/// Offers the shortlist those of `count` keys that are below its bound.
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

/// Calls sort_front() by a block that takes k > 256 if it has more than `threads` threads.
template <std::uint32_t block>
__device__ __forceinline__ void sort_front_by(Key* keys, std::uint32_t size, std::uint32_t found) {
  if constexpr (block > threads) {
    if (size >= 8 * block) return sort_front<8>(keys, size, found);
    if (size >= 4 * block) return sort_front<4>(keys, size, found);
  }
  sort_front<1>(keys, size, found);
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
  // A first bound pays if reading takes more than one step, or if far more is read than kept.
  offer_keys<block>(shortlist, tightening.keys.data + q * tightening.keys.stride, listed,
                    listed <= block * each && listed <= max(block, 4 * k));
  const bool some = shortlist.found() > 0;
  __syncthreads();
  if (some || tightening.afresh) {
    // Something that passed is smaller than the last of the best, which therefore drops out: without it there
    // are still k.
    if (!tightening.afresh) offer_keys<block>(shortlist, best, k, true);
    const std::uint32_t size = power_of_two(k), found = shortlist.found();
    const auto keep = [&](std::uint32_t, std::uint32_t j, Key key) {
      best[j] = key;
      if (j == k - 1) kth = key;
    };
    if (size > short_list && found > size && found <= 2 * size) {
      sort_front_by<block>(buffer, size, found);
      for (std::uint32_t j = threadIdx.x; j < k; j += block) keep(0, j, shortlist.at(0, j));
    } else {
      shortlist.deliver(keep);
    }
    __syncthreads();
    last = kth;
  }
  if (threadIdx.x == 0) settle(tightening, terms, q, count, last);
}

/// Copies best and candidates side by side into lists [rows, k + capacity], padded with no_key, for the
/// queries from q0 on.
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

/// Copies the first k keys of each sorted list back to best.
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

/// Returns how many queries a round takes: as many as have 2^22 keys together, at least one.
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
