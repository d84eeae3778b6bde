// select, bubble: K bubbles a row and group, each carrying the smallest of what those before it left.
//
//   distances [q, t]            no NaN
//   out       [q, groups * k]   keys, ascending in each list, padded with no_key
//
// Block b finds group b % groups of row b / groups. Bubble i walks through the group's values; at each
// place it keeps the smaller of what it carries and what it finds, and leaves the larger to bubble
// i + 1, which is two steps behind. So bubbles enter every second step until all are in (growing) and
// then walk to the end together (stable); in the end bubble i carries the i-th smallest. What a bubble
// leaves is needed one step later and never again: two places a bubble are all the memory there is.
// A thread carries every blockDim-th bubble.
// Work: t / groups + k steps with a barrier each, k comparisons a step. Memory: 3 k keys a block, in
// shared memory while they fit into 48 KiB, else in scratch.
// Source: PBKNN (He, Pu, Li, Yan 2016).
#include "common.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t most_threads = 256;
constexpr std::size_t most_shared = 48 * 1024;

std::size_t bytes_a_block(const Selection& selection) {
  return std::size_t{3} * selection.k * sizeof(Key);
}

__global__ __launch_bounds__(most_threads) void select_by_bubbles(const Selection selection, Key* scratch) {
  extern __shared__ Key places[];
  const std::uint32_t q = blockIdx.x / selection.groups, g = blockIdx.x % selection.groups, k = selection.k;
  Key* carried = scratch ? scratch + std::size_t{3} * k * blockIdx.x : places;
  Key* left = carried + k;  // [2, k]: by even and odd steps
  const Columns columns = columns_of(g, selection.groups, selection.columns);
  const std::uint32_t values = columns.end - columns.begin, bubbles = min(k, values);
  const float* row = selection.distances.data + q * selection.distances.stride + columns.begin;
  const std::uint32_t first_row = selection.first_row + columns.begin;
  for (std::uint32_t b = threadIdx.x; b < k; b += blockDim.x) carried[b] = no_key;
  __syncthreads();

  // At step s bubble b finds value s - 2 b of those that the bubble before it left.
  const std::uint64_t steps = bubbles == 0 ? 0 : std::uint64_t{values} + bubbles - 1;
  for (std::uint64_t s = 0; s < steps; ++s) {
    for (std::uint32_t b = threadIdx.x; b < bubbles && 2ull * b <= s; b += blockDim.x) {
      const std::uint64_t place = s - 2ull * b;
      if (place >= values - b) continue;  // it has arrived
      const Key found = b == 0 ? key_of(row[place], first_row + static_cast<std::uint32_t>(place))
                               : left[(s + 1) % 2 * k + b - 1];
      if (place == 0) {
        carried[b] = found;
      } else {
        const Key mine = carried[b];
        carried[b] = min(mine, found);
        left[s % 2 * k + b] = max(mine, found);
      }
    }
    __syncthreads();
  }
  Key* list = selection.out.data + q * selection.out.stride + static_cast<std::size_t>(g) * k;
  for (std::uint32_t b = threadIdx.x; b < k; b += blockDim.x) list[b] = carried[b];
}

}  // namespace

std::size_t select_bubble_scratch(const Selection& selection) {
  const std::size_t bytes = bytes_a_block(selection);
  return bytes <= most_shared ? 0 : bytes * selection.rows * selection.groups;
}

cudaError_t select_bubble(const Queue& queue, const Selection& selection, const Scratch& scratch) {
  const std::size_t bytes = bytes_a_block(selection);
  const bool shared = bytes <= most_shared;
  const std::uint32_t threads = std::min(most_threads, divide_up(selection.k, 32u) * 32);
  return launch(queue, select_by_bubbles, std::uint64_t{selection.rows} * selection.groups, threads,
                shared ? bytes : 0, selection, shared ? nullptr : static_cast<Key*>(scratch.data));
}

}  // namespace kith::cuda
