// select, k_min: finds the smallest by a tournament, k times.
//
//   distances [q, t]            NaN only if masked
//   out       [q, lists * k]    keys, ascending in each list, padded with no_key
//
// A warp holds 1024 values in its registers, 32 per lane (if a part has at most 256 values, 8 per lane),
// which play a tournament. A round compare-exchanges key i with key i + half; the larger goes to the upper
// half, and the lower half plays on. A key that meets no_key wins. The first three rounds are among eight
// keys of a lane, the others between a lane's sets of eight and, by shuffles, between lanes. The winner is
// removed, and the rest play the next tournament: only the winner's set has to repeat its first rounds,
// because the others would end as before. In a longer part each 1024 values have a warp, and the lists of all
// warps are merged (merge_runs.cu).
// Work: for n keys 7 n / 8 compare-exchanges, once; then for every 1024 of them, min(k, 1024) times, 3 minima
// per lane to join its sets, 5 rounds of shuffles, and the 7 compare-exchanges of the winner's set. No
// barrier, no shared memory. Scratch: 16 k bytes for every 1024 values. Source: GS_KNN (Liu, Zheng, Liu
// 2019), which repeats all rounds, with a barrier each, in shared memory.
#include "common/sort.cuh"
#include "select/published/select_blocks.cuh"

namespace kith::cuda {
namespace k_min {
namespace {

constexpr std::uint32_t threads = 128;
constexpr std::uint32_t set = 8;  // keys of a lane that play among themselves
constexpr std::uint32_t small_values = 32 * set, run_values = 1024;

/// Plays three rounds; the smallest key ends in front.
__device__ __forceinline__ void play(Key (&key)[set]) {
#pragma unroll
  for (std::uint32_t half = set / 2; half > 0; half /= 2) {
#pragma unroll
    for (std::uint32_t i = 0; i < half; ++i) exchange(key[i], key[i + half]);
  }
}

/// Warp w of the grid selects the smallest keys of run w % runs.count of list w / runs.count.
template <std::uint32_t sets>
__global__ __launch_bounds__(threads) void play_tournaments(const Selection selection, const Runs runs,
                                                            const std::uint64_t all) {
  constexpr std::uint32_t whole_warp = 0xFFFFFFFFu;
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint64_t number = std::uint64_t{blockIdx.x} * (threads / 32) + threadIdx.x / 32;
  if (number >= all) return;
  const auto list = static_cast<std::uint32_t>(number / runs.count);
  const auto run = static_cast<std::uint32_t>(number % runs.count);
  const Part part = part_of(selection, list);
  const RunPlace place = place_of(selection, runs, part, list, run);
  const std::uint64_t begin = std::uint64_t{run} * runs.length;
  Key key[sets][set];
#pragma unroll
  for (std::uint32_t s = 0; s < sets; ++s) {
#pragma unroll
    for (std::uint32_t i = 0; i < set; ++i) key[s][i] = part.key(begin + (s * set + i) * 32 + lane);
    play(key[s]);
  }

  Key kept = no_key;  // lane l keeps winner number l of each 32, until they are written together
  const std::uint64_t values = begin < part.count ? min(part.count - begin, std::uint64_t{runs.length}) : 0;
  const auto wanted = static_cast<std::uint32_t>(min(values, std::uint64_t{place.keys}));
  for (std::uint32_t j = 0; j < wanted; ++j) {
    Key winner = key[0][0];
#pragma unroll
    for (std::uint32_t s = 1; s < sets; ++s) winner = min(winner, key[s][0]);
#pragma unroll
    for (int other = 16; other > 0; other /= 2)
      winner = min(winner, static_cast<Key>(__shfl_xor_sync(whole_warp, winner, other)));
    if (lane == j % 32) kept = winner;
    if ((j % 32 == 31 || j + 1 == wanted) && lane <= j % 32) place.to[j - j % 32 + lane] = kept;
#pragma unroll
    for (std::uint32_t s = 0; s < sets; ++s) {
      if (__any_sync(whole_warp, key[s][0] == winner)) {
        if (key[s][0] == winner) key[s][0] = no_key;
        play(key[s]);
      }
    }
  }
  for (std::uint32_t j = wanted + lane; j < place.keys; j += 32) place.to[j] = no_key;
}

/// Returns the number of values of a run. A part of up to 256 values is one small run.
std::uint32_t values_a_run(const Selection& selection) {
  return width_of(selection) <= small_values ? small_values : run_values;
}

cudaError_t sort_runs(const Queue& queue, const Selection& rows, const Runs& runs) {
  const std::uint64_t all = std::uint64_t{lists_of(rows)} * runs.count;
  const std::uint64_t blocks = divide_up<std::uint64_t>(all, threads / 32);
  if (runs.length == small_values)
    return launch(queue, play_tournaments<1>, blocks, threads, 0, rows, runs, all);
  return launch(queue, play_tournaments<run_values / small_values>, blocks, threads, 0, rows, runs, all);
}

}  // namespace
}  // namespace k_min

const SelectorKernels k_min_selector =
    selector_by_runs<k_min::values_a_run, k_min::sort_runs>(Selector::k_min);

}  // namespace kith::cuda
