// select, rank_sort: places each value by the number of values that come before it.
//
//   distances [q, t]            NaN only if masked
//   out       [q, lists * k]    keys, ascending in each list, padded with no_key
//
// A thread counts for up to eight values of its own, in registers. The block copies all values of the part
// through shared memory, 1024 at a time, and all lanes read four at once. Values are compared without
// their rows. An equal value comes before if its row does; so in tiles before the block's own values those
// that are `smaller or equal` count, and in tiles behind them those that are `smaller`; rows are compared
// only in between. A masked value, NaN, comes before no other and gets no place; the list is padded at its
// end. Places from k on are not written; a warp whose values all have such places stops counting, and so
// does a block.
// Work: (t / lists)^2 comparisons, two instructions each; less for small k. One barrier for every 1024
// values. Shared memory: 8 KiB. No scratch. Source: enumeration sort, as by Ajorian, Bastan, Montazeri;
// Muller, Preparata 1975.
#include "select/select_rounds.cuh"

namespace kith::cuda {
namespace rank_sort {
namespace {

constexpr std::uint32_t threads = 256;
constexpr std::uint32_t loads = 4, staged = threads * loads;
constexpr std::uint32_t most_each = 8;

/// Adds to each place how many of the staged values are below the thread's value; with or_equal, below or
/// equal to it. The counts of a tile are floats, so that additions and comparisons use different units.
template <bool or_equal, std::uint32_t each>
__device__ __forceinline__ void count_tile(const float4 (&stage)[staged / 4], const float (&value)[each],
                                           std::uint32_t (&place)[each]) {
  float count[each] = {};
  const auto before = [](float other, float mine) {
    return (or_equal ? other <= mine : other < mine) ? 1.0f : 0.0f;
  };
#pragma unroll 4
  for (std::uint32_t i = 0; i < staged / 4; ++i) {
    const float4 four = stage[i];
#pragma unroll
    for (std::uint32_t e = 0; e < each; ++e) {
      count[e] += before(four.x, value[e]);
      count[e] += before(four.y, value[e]);
      count[e] += before(four.z, value[e]);
      count[e] += before(four.w, value[e]);
    }
  }
#pragma unroll
  for (std::uint32_t e = 0; e < each; ++e) place[e] += static_cast<std::uint32_t>(count[e]);
}

/// Block b computes places for the values from b % tiles * (threads * each) on, of list b / tiles.
template <std::uint32_t each>
__global__ __launch_bounds__(threads) void count_smaller(const Selection selection,
                                                         const std::uint32_t tiles) {
  __shared__ float4 stage[2][staged / 4];
  __shared__ std::uint32_t placed;  // number of values that are not masked
  const std::uint32_t list = blockIdx.x / tiles, thread = threadIdx.x, k = selection.k;
  const std::uint64_t own = std::uint64_t{blockIdx.x % tiles} * (threads * each);
  const Part part = part_of(selection, list);
  if (own == 0) {
    if (thread == 0) placed = 0;
    __syncthreads();
    std::uint32_t some = 0;
    for (std::uint64_t i = thread; i < part.count; i += threads) some += isnan(part.values[i]) ? 0 : 1;
    atomicAdd(&placed, some);
    __syncthreads();
    for (std::uint64_t j = std::uint64_t{placed} + thread; j < k; j += threads) part.out[j] = no_key;
  }
  if (own >= part.count) return;

  float value[each];
  std::uint32_t place[each];
#pragma unroll
  for (std::uint32_t e = 0; e < each; ++e) {
    const std::uint64_t i = own + e * threads + thread;
    value[e] = part.value(i);  // no value is before NaN, which stays at place k and is not written
    place[e] = isnan(value[e]) ? k : 0;
  }
  float next[loads];
#pragma unroll
  for (std::uint32_t v = 0; v < loads; ++v) next[v] = part.value(v * threads + thread);
  std::uint32_t turn = 0;
  for (std::uint64_t begin = 0; begin < part.count; begin += staged, turn ^= 1) {
    auto* values = reinterpret_cast<float*>(stage[turn]);
#pragma unroll
    for (std::uint32_t v = 0; v < loads; ++v) {
      values[v * threads + thread] = next[v];
      next[v] = part.value(begin + staged + v * threads + thread);
    }
    bool wanted = false;
#pragma unroll
    for (std::uint32_t e = 0; e < each; ++e) wanted |= place[e] < k;
    if (!__syncthreads_or(wanted)) break;
    if (!__any_sync(0xFFFFFFFFu, wanted)) continue;

    if (begin + staged <= own) {
      count_tile<true>(stage[turn], value, place);
    } else if (begin >= own + threads * each) {
      count_tile<false>(stage[turn], value, place);
    } else {
      // Value i of the tile comes before an equal value of this thread if i is below the number of
      // the latter.
      const auto mine =
          static_cast<std::int32_t>(static_cast<std::int64_t>(own) - static_cast<std::int64_t>(begin)) +
          static_cast<std::int32_t>(thread);
      for (std::int32_t i = 0; i < static_cast<std::int32_t>(staged); ++i) {
        const float other = values[i];
#pragma unroll
        for (std::uint32_t e = 0; e < each; ++e)
          place[e] +=
              other < value[e] || (other == value[e] && i < mine + static_cast<std::int32_t>(e * threads));
      }
    }
  }
#pragma unroll
  for (std::uint32_t e = 0; e < each; ++e) {
    const std::uint64_t i = own + e * threads + thread;
    if (place[e] < k) part.out[place[e]] = key_of(value[e], part.first_row + static_cast<std::uint32_t>(i));
  }
}

std::size_t bytes_a_row(const Selection&) {
  return 0;
}

cudaError_t select_rows(const Queue& queue, const Selection& selection, void*) {
  // More values per thread mean less to read, but fewer blocks.
  const std::uint64_t lists = lists_of(selection);
  const auto tiles_of = [&](std::uint32_t each) { return divide_up(width_of(selection), threads * each); };
  std::uint32_t each = most_each;
  while (each > 1 && lists * tiles_of(each) < std::uint64_t{4} * queue.multiprocessors) each /= 2;
  const std::uint32_t tiles = tiles_of(each);
  switch (each) {
    case 1:
      return launch(queue, count_smaller<1>, lists * tiles, threads, 0, selection, tiles);
    case 2:
      return launch(queue, count_smaller<2>, lists * tiles, threads, 0, selection, tiles);
    case 4:
      return launch(queue, count_smaller<4>, lists * tiles, threads, 0, selection, tiles);
    default:
      return launch(queue, count_smaller<most_each>, lists * tiles, threads, 0, selection, tiles);
  }
}

}  // namespace
}  // namespace rank_sort

const SelectorKernels rank_sort_selector =
    selector_by_rows<rank_sort::bytes_a_row, rank_sort::select_rows>(Selector::rank_sort);

}  // namespace kith::cuda
