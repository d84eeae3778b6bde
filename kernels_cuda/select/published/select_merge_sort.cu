// select, merge_sort: sorts (value, row) pairs by a parallel merge sort.
//
//   distances [q, t]            NaN only if masked
//   out       [q, lists * k]    keys, ascending in each list, padded with no_key
//
// A block sorts 1792 values. Each thread sorts seven in registers; then runs of 7, 14, 28, ... keys are
// merged in shared memory. Every thread makes seven keys of the result, and finds where these begin in both
// runs by binary search. Longer runs are merged in device memory (merge_runs.cu). No result needs the keys
// behind the k-th of a run, so merged runs are cut there; with k = n all values are sorted. Seven is odd, so
// that threads of a warp that read different runs access different banks.
// Work: log2(t / lists) passes over the keys; 8 of them are in shared memory, with two barriers each (none
// while a run belongs to one warp). Shared memory: 14 KiB. Scratch: 16 bytes per value, less if runs are cut.
// Source: knn03 (Batlle, Ballber 2020); merging: Odeh and others 2012 (Merge Path).
#include "common/sort.cuh"
#include "merge/merge_path.cuh"
#include "select/published/select_blocks.cuh"

namespace kith::cuda {
namespace merge_sort {
namespace {

constexpr std::uint32_t most_threads = 256;
constexpr int each = 7;
constexpr std::uint32_t run_values = most_threads * each;

/// Sorts the keys of a thread in registers, by odd-even transposition.
__device__ __forceinline__ void sort_registers(Key (&key)[each]) {
#pragma unroll
  for (int phase = 0; phase < each; ++phase) {
#pragma unroll
    for (int e = phase % 2; e + 1 < each; e += 2) exchange(key[e], key[e + 1]);
  }
}

/// Waits for the threads that share runs of `span` threads.
__device__ __forceinline__ void wait_for(std::uint32_t span) {
  if (span > 32) {
    __syncthreads();
  } else {
    __syncwarp();
  }
}

/// Block b sorts run b % runs.count of list b / runs.count.
__global__ __launch_bounds__(most_threads) void sort_and_merge(const Selection selection, const Runs runs) {
  __shared__ Key keys[run_values];
  const std::uint32_t list = blockIdx.x / runs.count, run = blockIdx.x % runs.count;
  const Part part = part_of(selection, list);
  const RunPlace place = place_of(selection, runs, part, list, run);
  if (place.keys == 0) return;
  const std::uint32_t thread = threadIdx.x, threads = blockDim.x, all = threads * each;
  Key key[each];
#pragma unroll
  for (std::uint32_t e = 0; e < each; ++e)
    key[e] = part.key(std::uint64_t{run} * run_values + e * threads + thread);
  sort_registers(key);
  for (std::uint32_t span = 1;; span *= 2) {  // `span` threads share a sorted run
#pragma unroll
    for (std::uint32_t e = 0; e < each; ++e) keys[thread * each + e] = key[e];
    if (span >= threads) break;
    wait_for(2 * span);
    const std::uint32_t first = thread & ~(2 * span - 1), begin = first * each;
    const std::uint32_t a_count = min(span * each, all - begin);
    const Pair pair{keys + begin, a_count, keys + begin + a_count, min(span * each, all - begin - a_count)};
    merge_from(pair, (thread - first) * each, key);
    wait_for(2 * span);
  }
  __syncthreads();
  for (std::uint32_t j = thread; j < place.keys; j += threads) place.to[j] = j < all ? keys[j] : no_key;
}

std::uint32_t values_a_run(const Selection&) {
  return run_values;
}

cudaError_t sort_runs(const Queue& queue, const Selection& rows, const Runs& runs) {
  const std::uint32_t values = std::min(width_of(rows), run_values);
  const std::uint32_t threads = divide_up(values, 32u * each) * 32;
  return launch(queue, sort_and_merge, std::uint64_t{lists_of(rows)} * runs.count, threads, 0, rows, runs);
}

}  // namespace
}  // namespace merge_sort

const SelectorKernels merge_sort_selector =
    selector_by_runs<merge_sort::values_a_run, merge_sort::sort_runs>(Selector::merge_sort);

}  // namespace kith::cuda
