// select, local_sort: sorts each 256 distances, and merges the first k of each 256.
//
//   distances [q, t]            NaN only if masked
//   out       [q, lists * k]    keys, ascending in each list, padded with no_key; k <= 256
//
// A block of 256 threads sorts eight times 256 values, of different parts or of one part, with one warp each
// and eight values per lane: a bitonic network in registers and by shuffles. (The paper sorts 256 values with
// 256 threads in shared memory, with a barrier for each step; these are the same compare-exchanges without
// barriers.) If a part has more than 256 values, its runs of k are merged (merge_runs.cu).
// Work: 36 steps of 128 compare-exchanges for every 256 values, for any k: (256 - k) / 256 of the sorted
// values are discarded. No barrier. Shared memory: 17 KiB. Scratch: 16 k bytes for every 256 values. Source:
// CUKNN (Liang, Liu, Wang, Jian 2009); the network: Batcher 1968.
#include "common/sort.cuh"
#include "select/published/select_blocks.cuh"

namespace kith::cuda {
namespace local_sort {
namespace {

constexpr std::uint32_t threads = 256;
constexpr int each = 8;
constexpr std::uint32_t run_values = 32 * each;
static_assert(run_values == local_sort_max_k);

/// Warp w of the grid sorts run w % runs.count of list w / runs.count.
__global__ __launch_bounds__(threads) void sort_blocks(const Selection selection, const Runs runs,
                                                       const std::uint64_t all) {
  __shared__ Key slots[threads / 32][store_keys<each>];
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::uint64_t number = std::uint64_t{blockIdx.x} * (threads / 32) + warp;
  if (number >= all) return;
  const auto list = static_cast<std::uint32_t>(number / runs.count);
  const auto run = static_cast<std::uint32_t>(number % runs.count);
  const Part part = part_of(selection, list);
  const RunPlace place = place_of(selection, runs, part, list, run);
  if (place.keys == 0) return;
  Key key[each];
#pragma unroll
  for (std::uint32_t e = 0; e < each; ++e) key[e] = part.key(std::uint64_t{run} * run_values + e * 32 + lane);
  sort_warp(key, lane);
  store_warp(key, slots[warp], lane, place.to, place.keys);
}

std::uint32_t values_a_run(const Selection&) {
  return run_values;
}

cudaError_t sort_runs(const Queue& queue, const Selection& rows, const Runs& runs) {
  const std::uint64_t all = std::uint64_t{lists_of(rows)} * runs.count;
  return launch(queue, sort_blocks, divide_up<std::uint64_t>(all, threads / 32), threads, 0, rows, runs, all);
}

}  // namespace
}  // namespace local_sort

const SelectorKernels local_sort_selector =
    selector_by_runs<local_sort::values_a_run, local_sort::sort_runs>(Selector::local_sort);

}  // namespace kith::cuda
