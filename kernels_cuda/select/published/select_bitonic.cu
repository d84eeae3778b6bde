// select, bitonic: pads each part to a power of two with no_key, and sorts all of it.
//
//   distances [q, t]            NaN only if masked
//   out       [q, lists * k]    keys, ascending in each list, padded with no_key
//
// Up to 256 values are sorted by a warp in registers, up to 2048 by a block. A longer part is sorted in tiles
// of 2048. Then, for every doubling up to the power of two, passes over device memory do the strides of 2048
// and more, up to three steps per pass with eight keys in the registers of a thread, and one last pass does
// all smaller strides, tile by tile. All compare-exchanges are ascending (network.cuh), so the padding never
// moves: it is neither stored nor read.
// Work, with p the power of two: p / 4 * log2(p) * (log2(p) + 1) compare-exchanges for any k; a barrier for
// each of the 6 steps between warps of a tile. Shared memory: 32 KiB. Scratch: 8 bytes per value if a part
// has more than 2048. Source: GS_KNN (Liu, Zheng, Liu 2019); Batcher 1968.
#include "select/published/network.cuh"
#include "select/published/select_blocks.cuh"

namespace kith::cuda {
namespace bitonic {
namespace {

constexpr std::uint32_t threads = 256;
constexpr int each = 8;
constexpr std::uint32_t tile = threads * each;
constexpr std::uint32_t most_steps = 3;  // most steps of a pass: 2^3 keys per thread

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
  for (std::uint32_t e = 0; e < keys; ++e) key[e] = part.key(e * 32 + lane);
  sort_warp(key, lane);
  store_warp(key, slots[warp], lane, part.out, selection.k);
  for (std::uint32_t j = 32 * keys + lane; j < selection.k; j += 32) part.out[j] = no_key;
}

/// Writes the keys of a block to `to`, at most `wanted` of them. All buffers of the block must be free.
__device__ __forceinline__ void store_tile(const Key (&key)[each], Key* slots, Key* to,
                                           std::uint64_t wanted) {
  const std::uint32_t warp = threadIdx.x / 32, first = warp * 32 * each;
  if (first < wanted)
    store_warp(key, slots + warp * store_keys<each>, threadIdx.x % 32, to + first,
               static_cast<std::uint32_t>(min(wanted - first, std::uint64_t{32 * each})));
}

/// Block b sorts tile b % tiles of list b / tiles into `sorted` [lists, width]. If `sorted` is null, the tile
/// is the whole part, and its keys are the list. Shared memory: two keys for each key of the tile.
__global__ __launch_bounds__(threads) void sort_tiles(const Selection selection, const std::uint32_t tiles,
                                                      Key* sorted) {
  extern __shared__ Key buffers[];
  const std::uint32_t list = blockIdx.x / tiles;
  const std::uint64_t begin = std::uint64_t{blockIdx.x % tiles} * tile;
  const Part part = part_of(selection, list);
  if (sorted && begin >= part.count) return;
  Key key[each];
#pragma unroll
  for (std::uint32_t e = 0; e < each; ++e) key[e] = part.key(begin + e * blockDim.x + threadIdx.x);
  sort_block(key, buffers);
  __syncthreads();
  if (sorted) {
    store_tile(key, buffers, sorted + std::size_t{list} * width_of(selection) + begin, part.count - begin);
    return;
  }
  store_tile(key, buffers, part.out, selection.k);
  for (std::uint32_t j = blockDim.x * each + threadIdx.x; j < selection.k; j += blockDim.x)
    part.out[j] = no_key;
}

/// The strides of a pass over device memory: `largest`, its half, ... `smallest`; a flip of 2 * largest comes
/// first if `flip`.
struct Strides {
  std::uint64_t largest;
  std::uint64_t smallest;
  bool flip;
  std::uint32_t blocks;  // blocks per list
};

/// Each thread takes the 2^steps keys that are compared with each other in `steps` steps. Work: each key is
/// read and written once. No barrier.
template <std::uint32_t steps>
__global__ __launch_bounds__(threads) void bitonic_pass(const Selection selection, const Strides strides,
                                                        Key* sorted) {
  constexpr std::uint32_t keys = 1u << steps;
  const std::uint32_t list = blockIdx.x / strides.blocks;
  const std::uint64_t i = std::uint64_t{blockIdx.x % strides.blocks} * threads + threadIdx.x;
  const Part part = part_of(selection, list);
  Key* mine = sorted + std::size_t{list} * width_of(selection);
  const std::uint64_t size = 2 * strides.largest;
  const std::uint64_t begin = i / strides.smallest * size, low = i & (strides.smallest - 1);
  if (begin + low >= part.count) return;
  // A flip takes the upper half from its end.
  const auto place = [&](std::uint32_t j) {
    return begin + (strides.flip && j >= keys / 2 ? size - 1 - low - (keys - 1 - j) * strides.smallest
                                                  : low + j * strides.smallest);
  };
  Key key[keys];
#pragma unroll
  for (std::uint32_t j = 0; j < keys; ++j) key[j] = place(j) < part.count ? mine[place(j)] : no_key;
  if (strides.flip) {
#pragma unroll
    for (std::uint32_t j = 0; j < keys / 2; ++j) exchange(key[j], key[keys - 1 - j]);
  } else {
#pragma unroll
    for (std::uint32_t j = 0; j < keys / 2; ++j) exchange(key[j], key[j + keys / 2]);
  }
#pragma unroll
  for (std::uint32_t stride = keys / 4; stride > 0; stride /= 2) {
#pragma unroll
    for (std::uint32_t j = 0; j < keys; ++j)
      if ((j & stride) == 0) exchange(key[j], key[j | stride]);
  }
#pragma unroll
  for (std::uint32_t j = 0; j < keys; ++j)
    if (place(j) < part.count) mine[place(j)] = key[j];
}

/// Block b does the strides below 2048 in tile b % tiles of list b / tiles; at the end it writes the list.
__global__ __launch_bounds__(threads) void merge_tiles(const Selection selection, const std::uint32_t tiles,
                                                       Key* sorted, const bool last) {
  constexpr std::uint32_t pitch = threads + 2;  // avoids bank conflicts in both directions
  __shared__ Key slots[threads / 32 * store_keys<each>];
  static_assert(each * pitch <= threads / 32 * store_keys<each>);
  const std::uint32_t list = blockIdx.x / tiles, thread = threadIdx.x;
  const std::uint64_t begin = std::uint64_t{blockIdx.x % tiles} * tile;
  const Part part = part_of(selection, list);
  const std::uint64_t wanted = last ? selection.k : part.count;
  if (begin >= wanted) return;
  Key* mine = sorted + std::size_t{list} * width_of(selection);
  Key key[each];
#pragma unroll
  for (std::uint32_t e = 0; e < each; ++e) {
    const std::uint64_t place = begin + e * threads + thread;
    key[e] = place < part.count ? mine[place] : no_key;
  }
  merge_registers(key);  // does strides of 1024, 512 and 256
#pragma unroll
  for (std::uint32_t e = 0; e < each; ++e) {
    const std::uint32_t place = e * threads + thread;
    slots[place % each * pitch + place / each] = key[e];
  }
  __syncthreads();
#pragma unroll
  for (std::uint32_t e = 0; e < each; ++e) key[e] = slots[e * pitch + thread];
  merge_warp(key, thread % 32);
  __syncthreads();
  store_tile(key, slots, (last ? part.out : mine) + begin, wanted - begin);
}

cudaError_t pass(const Queue& queue, const Selection& selection, const Strides& strides, std::uint32_t steps,
                 Key* sorted) {
  const std::uint64_t blocks = std::uint64_t{lists_of(selection)} * strides.blocks;
  switch (steps) {
    case 1:
      return launch(queue, bitonic_pass<1>, blocks, threads, 0, selection, strides, sorted);
    case 2:
      return launch(queue, bitonic_pass<2>, blocks, threads, 0, selection, strides, sorted);
    default:
      return launch(queue, bitonic_pass<most_steps>, blocks, threads, 0, selection, strides, sorted);
  }
}

/// Merges sorted runs of size / 2 into sorted runs of `size`, except for the strides within tiles.
cudaError_t merge_far(const Queue& queue, const Selection& selection, std::uint64_t size, Key* sorted) {
  const std::uint64_t padded = divide_up<std::uint64_t>(width_of(selection), size) * size;
  for (std::uint64_t stride = size / 2; stride >= tile;) {
    std::uint32_t steps = 1;
    while (steps < most_steps && (stride >> steps) >= tile) ++steps;
    const Strides strides{stride, stride >> (steps - 1), stride == size / 2,
                          static_cast<std::uint32_t>(divide_up<std::uint64_t>(padded >> steps, threads))};
    const cudaError_t error = pass(queue, selection, strides, steps, sorted);
    if (error != cudaSuccess) return error;
    stride >>= steps;
  }
  return cudaSuccess;
}

/// Returns the shared memory of sort_tiles.
std::size_t bytes_of(std::uint32_t block_threads) {
  return std::size_t{2} * each * block_threads * sizeof(Key);
}

cudaError_t sort_long(const Queue& queue, const Selection& selection, Key* sorted) {
  const std::uint32_t width = width_of(selection), tiles = divide_up(width, tile);
  const std::uint64_t lists = lists_of(selection);
  cudaError_t error =
      launch(queue, sort_tiles, lists * tiles, threads, bytes_of(threads), selection, tiles, sorted);
  for (std::uint64_t size = 2 * tile; error == cudaSuccess && size / 2 < width; size *= 2) {
    const bool last = size >= width;
    const std::uint32_t merged = last ? divide_up(selection.k, tile) : tiles;
    error = merge_far(queue, selection, size, sorted);
    if (error == cudaSuccess)
      error = launch(queue, merge_tiles, lists * merged, threads, 0, selection, merged, sorted, last);
  }
  return error;
}

cudaError_t sort_short(const Queue& queue, const Selection& selection) {
  const std::uint32_t width = width_of(selection), lists = lists_of(selection);
  const std::uint64_t blocks = divide_up<std::uint64_t>(lists, threads / 32);
  if (width <= 32) return launch(queue, sort_by_warps<1>, blocks, threads, 0, selection, lists);
  if (width <= 64) return launch(queue, sort_by_warps<2>, blocks, threads, 0, selection, lists);
  if (width <= 128) return launch(queue, sort_by_warps<4>, blocks, threads, 0, selection, lists);
  if (width <= 256) return launch(queue, sort_by_warps<8>, blocks, threads, 0, selection, lists);
  const std::uint32_t enough = power_of_two(divide_up<std::uint32_t>(width, each));
  return launch(queue, sort_tiles, lists, enough, bytes_of(enough), selection, 1u, nullptr);
}

}  // namespace
}  // namespace bitonic

const SelectorKernels bitonic_selector =
    selector_by_tiles<bitonic::tile, bitonic::sort_short, bitonic::sort_long>(Selector::bitonic);

}  // namespace kith::cuda
