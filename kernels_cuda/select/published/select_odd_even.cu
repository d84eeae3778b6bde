// select, odd_even: sorts by odd-even transposition, which is a parallel bubble sort.
//
//   distances [q, t]            NaN only if masked
//   out       [q, lists * k]    keys, ascending in each list, padded with no_key
//
// Neighbours 0 1, 2 3, ... are compare-exchanged, then 1 2, 3 4, ..., in as many steps as there are values. A
// thread holds up to eight values in registers. In every second step it exchanges with the threads beside it,
// by shuffles within a warp, and through shared memory between warps, which needs a barrier. Up to 256 values
// are sorted by a warp, up to 2048 by a block. A longer part is sorted in tiles of 2048. Then tiles are
// treated like values: neighbours 0 1, 2 3, ... are merged and split, then 1 2, 3 4, ..., in as many steps as
// there are tiles. If a pair is already in order, comparing two keys shows this, and nothing is done.
// Work: for n keys, at most 2048, n steps of n / 2 compare-exchanges, and n / 2 barriers (none up to 256).
// For more, 1024 n compare-exchanges in tiles, then at most n / 2048 launches that read and write all keys.
// Shared memory: 35 KiB to merge, else 256 bytes. Scratch: 8 bytes per value if a part has more than 2048.
// Source: Habermann, Parallel neighbor sort, 1972; Baudet, Stevenson, Optimal sorting algorithms for parallel
// computers, 1978 (merge and split).
#include "common/sort.cuh"
#include "merge/merge_path.cuh"
#include "select/published/select_blocks.cuh"

namespace kith::cuda {
namespace odd_even {
namespace {

constexpr std::uint32_t threads = 256;
constexpr int each = 8;
constexpr std::uint32_t tile = threads * each;
constexpr std::uint32_t merge_threads = 2 * tile / each;

template <int keys>
__device__ __forceinline__ void even_step(Key (&key)[keys]) {
#pragma unroll
  for (int e = 0; e < keys; e += 2) exchange(key[e], key[e + 1]);
}

/// Does one odd step.
///   before, behind  the last key of the thread before, and the first key of the thread behind
template <int keys>
__device__ __forceinline__ void odd_step(Key (&key)[keys], Key before, Key behind) {
#pragma unroll
  for (int e = 1; e + 1 < keys; e += 2) exchange(key[e], key[e + 1]);
  key[0] = max(key[0], before);
  key[keys - 1] = min(key[keys - 1], behind);
}

template <int keys>
__device__ __forceinline__ Key last_before(const Key (&key)[keys]) {
  return __shfl_up_sync(0xFFFFFFFFu, key[keys - 1], 1);
}
template <int keys>
__device__ __forceinline__ Key first_behind(const Key (&key)[keys]) {
  return __shfl_down_sync(0xFFFFFFFFu, key[0], 1);
}

/// One warp sorts one list of up to 32 * keys values.
template <int keys>
__global__ __launch_bounds__(threads) void sort_by_warps(const Selection selection,
                                                         const std::uint32_t lists) {
  __shared__ Key slots[threads / 32][store_keys<keys>];
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::uint64_t list = std::uint64_t{blockIdx.x} * (threads / 32) + warp;
  if (list >= lists) return;
  const Part part = part_of(selection, static_cast<std::uint32_t>(list));
  Key key[keys];
#pragma unroll
  for (std::uint32_t e = 0; e < keys; ++e) key[e] = part.key(lane * keys + e);
  for (std::uint32_t step = 0; step < part.count; step += 2) {
    even_step(key);
    const Key before = last_before(key), behind = first_behind(key);
    odd_step(key, lane == 0 ? 0 : before, lane == 31 ? no_key : behind);
  }
  store_warp(key, slots[warp], lane, part.out, selection.k);
  for (std::uint32_t j = 32 * keys + lane; j < selection.k; j += 32) part.out[j] = no_key;
}

/// Block b sorts tile b % tiles of list b / tiles into `sorted` [lists, width]. If `sorted` is null, the tile
/// is the whole part, and its keys are the list.
__global__ __launch_bounds__(threads) void sort_tiles(const Selection selection, const std::uint32_t tiles,
                                                      Key* sorted) {
  __shared__ Key slots[threads / 32][store_keys<each>];
  __shared__ Key ends[2][threads / 32][2];  // the first and the last key of each warp; two buffers
  const std::uint32_t warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x % 32;
  const std::uint32_t list = blockIdx.x / tiles;
  const std::uint64_t begin = std::uint64_t{blockIdx.x % tiles} * tile;
  const Part part = part_of(selection, list);
  if (sorted && begin >= part.count) return;
  Key key[each];
#pragma unroll
  for (std::uint32_t e = 0; e < each; ++e) key[e] = part.key(begin + threadIdx.x * each + e);
  const std::uint64_t values = begin < part.count ? min(part.count - begin, std::uint64_t{tile}) : 0;
  for (std::uint32_t step = 0; step < values; step += 2) {
    even_step(key);
    Key(&end)[threads / 32][2] = ends[step / 2 % 2];
    if (lane == 0) end[warp][0] = key[0];
    if (lane == 31) end[warp][1] = key[each - 1];
    Key before = last_before(key), behind = first_behind(key);
    __syncthreads();
    if (lane == 0) before = warp == 0 ? 0 : end[warp - 1][1];
    if (lane == 31) behind = warp + 1 == warps ? no_key : end[warp + 1][0];
    odd_step(key, before, behind);
  }
  Key* to = sorted ? sorted + std::size_t{list} * width_of(selection) + begin : part.out;
  const std::uint64_t wanted = sorted ? values : selection.k;
  const std::uint32_t first = warp * 32 * each;
  if (first < wanted)
    store_warp(key, slots[warp], lane, to + first,
               static_cast<std::uint32_t>(min(wanted - first, std::uint64_t{32 * each})));
  for (std::uint64_t j = blockDim.x * each + threadIdx.x; j < wanted; j += blockDim.x) to[j] = no_key;
}

/// Block b merges pair b % pairs of neighbouring tiles of list b / pairs, counted from tile `odd`, and splits
/// the result: the smaller keys go to the first tile.
__global__ __launch_bounds__(merge_threads) void merge_and_split(const Selection selection,
                                                                 const std::uint32_t pairs,
                                                                 const std::uint32_t odd, Key* sorted) {
  constexpr std::uint32_t slots_a_warp = store_keys<each>;
  __shared__ Key keys[merge_threads / 32 * slots_a_warp];
  static_assert(2 * tile <= merge_threads / 32 * slots_a_warp);
  const std::uint32_t list = blockIdx.x / pairs;
  const std::uint64_t begin = (std::uint64_t{blockIdx.x % pairs} * 2 + odd) * tile;
  const Part part = part_of(selection, list);
  if (begin + tile >= part.count) return;
  const auto second = static_cast<std::uint32_t>(min(part.count - begin - tile, std::uint64_t{tile}));
  Key* first = sorted + std::size_t{list} * width_of(selection) + begin;
  if (first[tile - 1] < first[tile]) return;

  for (std::uint32_t i = threadIdx.x; i < tile + second; i += merge_threads) keys[i] = first[i];
  __syncthreads();
  Key mine[each];
  merge_from(Pair{keys, tile, keys + tile, second}, threadIdx.x * each, mine);
  __syncthreads();
  const std::uint32_t warp = threadIdx.x / 32, done = warp * 32 * each;
  if (done < tile + second)
    store_warp(mine, keys + warp * slots_a_warp, threadIdx.x % 32, first + done, tile + second - done);
}

/// One thread writes one place of the lists.
__global__ __launch_bounds__(threads) void cut_lists(const Selection selection, const std::uint64_t all,
                                                     const Key* sorted) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= all) return;
  const auto list = static_cast<std::uint32_t>(i / selection.k),
             j = static_cast<std::uint32_t>(i % selection.k);
  const Part part = part_of(selection, list);
  part.out[j] = j < part.count ? sorted[std::size_t{list} * width_of(selection) + j] : no_key;
}

cudaError_t sort_long(const Queue& queue, const Selection& selection, Key* sorted) {
  const std::uint32_t tiles = divide_up(width_of(selection), tile), pairs = tiles / 2;
  const std::uint64_t lists = lists_of(selection), all = lists * selection.k;
  cudaError_t error = launch(queue, sort_tiles, lists * tiles, threads, 0, selection, tiles, sorted);
  for (std::uint32_t step = 0; error == cudaSuccess && step < tiles; ++step)
    error =
        launch(queue, merge_and_split, lists * pairs, merge_threads, 0, selection, pairs, step % 2, sorted);
  if (error != cudaSuccess) return error;
  return launch(queue, cut_lists, divide_up<std::uint64_t>(all, threads), threads, 0, selection, all, sorted);
}

cudaError_t sort_short(const Queue& queue, const Selection& selection) {
  const std::uint32_t width = width_of(selection), lists = lists_of(selection);
  const std::uint64_t blocks = divide_up<std::uint64_t>(lists, threads / 32);
  if (width <= 64) return launch(queue, sort_by_warps<2>, blocks, threads, 0, selection, lists);
  if (width <= 128) return launch(queue, sort_by_warps<4>, blocks, threads, 0, selection, lists);
  if (width <= 256) return launch(queue, sort_by_warps<8>, blocks, threads, 0, selection, lists);
  return launch(queue, sort_tiles, lists, divide_up<std::uint32_t>(width, 32 * each) * 32, 0, selection, 1u,
                nullptr);
}

}  // namespace
}  // namespace odd_even

const SelectorKernels odd_even_selector =
    selector_by_tiles<odd_even::tile, odd_even::sort_short, odd_even::sort_long>(Selector::odd_even);

}  // namespace kith::cuda
