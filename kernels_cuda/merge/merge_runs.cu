// Merges sorted runs into one list per part; of every merged run only the k smallest keys are kept.
//
//   runs  [lists, pitch]        keys, ascending in each run (merge_runs.cuh)
//   out   [q, lists * k]        keys, ascending in each list, padded with no_key
//
// Short runs (k up to 1024) are merged many at a time, by a block in shared memory. Long runs are merged two
// at a time, with one block for each tile of the result.
#include "merge/merge_runs.cuh"

#include "merge/merge_path.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t run_threads = 256;
constexpr std::uint32_t short_keys = 1024;  // the longest short run
constexpr std::uint32_t block_keys = 2048;  // the keys of all short runs that a block merges
constexpr int each = 7;                     // merged keys per thread; an odd number avoids bank conflicts
constexpr std::uint32_t tile = run_threads * std::uint32_t{each};

/// A pass makes runs that cover `covered * fan` values from runs that cover `covered` values.
struct Pass {
  const Key* from;
  std::size_t from_pitch;
  Key* to;  // null: the results are the lists
  std::size_t to_pitch;
  std::uint64_t covered;
  std::uint32_t fan;
  std::uint32_t made;   // number of runs of the longest part
  std::uint32_t tiles;  // number of tiles of a long run
};

std::size_t shared_bytes(std::uint32_t fan, std::uint32_t k) {
  return (std::size_t{fan} + divide_up(fan, 2u)) * k * sizeof(Key);
}

/// Block b merges `fan` runs of k keys in pairs until one is left, which becomes run b % `made` of list b /
/// `made`. A key moves to the place that is its rank among all keys of its pair, if that is below k.
/// Work: fan * k * log2(k) comparisons for the first round of pairs, and half as many for each further one;
/// one barrier per round. Shared memory: at most 24 KiB.
__global__ __launch_bounds__(run_threads) void merge_short_runs(const Selection selection, const Pass pass) {
  extern __shared__ Key buffer[];
  const std::uint32_t list = blockIdx.x / pass.made, run = blockIdx.x % pass.made, k = selection.k;
  const Part part = part_of(selection, list);
  const std::uint64_t all = divide_up(std::uint64_t{part.count}, pass.covered);
  const std::uint64_t first = std::uint64_t{run} * pass.fan;
  auto count = static_cast<std::uint32_t>(first < all ? min(all - first, std::uint64_t{pass.fan}) : 0);
  if (count == 0 && pass.to) return;

  const Key* in = pass.from + list * pass.from_pitch + first * k;
  Key* from = buffer;
  Key* to = buffer + std::size_t{pass.fan} * k;
  for (std::uint32_t i = threadIdx.x; i < count * k; i += run_threads) from[i] = in[i];
  __syncthreads();
  for (; count > 1; count = divide_up(count, 2u)) {
    for (std::uint32_t i = threadIdx.x; i < count * k; i += run_threads) {
      const std::uint32_t own = i / k, other = own ^ 1u, place = i % k;
      const Key key = from[i];
      // Keys from the k-th on are dropped, so the search need not go farther.
      const std::uint32_t rank =
          other < count ? place + count_before(from + other * k, k - place, key, other < own) : place;
      if (rank < k) to[own / 2 * k + rank] = key;
    }
    __syncthreads();
    Key* free = from;
    from = to;
    to = free;
  }
  Key* out = pass.to ? pass.to + list * pass.to_pitch + std::size_t{run} * k : part.out;
  for (std::uint32_t j = threadIdx.x; j < k; j += run_threads) out[j] = count ? from[j] : no_key;
}

/// Block b makes one tile of a run. Two warps find where it begins and ends in both lists; all threads copy
/// these ranges to shared memory; then each thread merges seven keys.
/// Work: each key is read and written once; 4 barriers per tile. Shared memory: 14 KiB.
__global__ __launch_bounds__(run_threads) void merge_long_runs(const Selection selection, const Pass pass) {
  __shared__ Key keys[tile];
  __shared__ std::uint32_t splits[2];
  const std::uint32_t k = selection.k, x = blockIdx.x % pass.tiles;
  const std::uint32_t run = blockIdx.x / pass.tiles % pass.made, list = blockIdx.x / pass.tiles / pass.made;
  const Part part = part_of(selection, list);
  const auto keys_of = [&](std::uint64_t i) {
    const std::uint64_t begin = i * pass.covered;
    const std::uint64_t values = begin < part.count ? min(part.count - begin, pass.covered) : 0;
    return static_cast<std::uint32_t>(min(values, std::uint64_t{k}));
  };
  const std::uint64_t kept = min(pass.covered, std::uint64_t{k});
  const Key* in = pass.from + list * pass.from_pitch + 2 * run * kept;
  Pair pair{in, keys_of(2 * std::uint64_t{run}), in + kept, keys_of(2 * std::uint64_t{run} + 1)};
  const std::uint64_t both = std::uint64_t{pair.a_count} + pair.b_count;
  const std::uint64_t merged = min(both, std::uint64_t{k}), wanted = pass.to ? merged : k;
  const std::uint64_t begin = std::uint64_t{x} * tile;
  if (begin >= wanted) return;
  const auto first = static_cast<std::uint32_t>(min(begin, merged));
  const auto last = static_cast<std::uint32_t>(min(begin + tile, merged));
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp < 2) {
    const std::uint32_t from_a = split_by_warp(pair, warp == 0 ? first : last, lane);
    if (lane == 0) splits[warp] = from_a;
  }
  __syncthreads();
  const std::uint32_t a = splits[0], b = first - a;
  const std::uint32_t a_count = splits[1] - a, count = last - first;
  for (std::uint32_t i = threadIdx.x; i < count; i += run_threads)
    keys[i] = i < a_count ? pair.a[a + i] : pair.b[b + (i - a_count)];
  __syncthreads();
  Key mine[each];
  merge_from(Pair{keys, a_count, keys + a_count, count - a_count}, threadIdx.x * each, mine);
  __syncthreads();
#pragma unroll
  for (int e = 0; e < each; ++e) keys[threadIdx.x * each + static_cast<std::uint32_t>(e)] = mine[e];
  __syncthreads();
  Key* out =
      (pass.to ? pass.to + list * pass.to_pitch + run * min(2 * pass.covered, std::uint64_t{k}) : part.out) +
      begin;
  const auto keys_out = static_cast<std::uint32_t>(min(wanted - begin, std::uint64_t{tile}));
  for (std::uint32_t i = threadIdx.x; i < keys_out; i += run_threads) out[i] = keys[i];
}

}  // namespace

Runs runs_of(const Selection& selection, std::uint32_t length, void* memory) {
  Runs runs{};
  runs.length = length;
  runs.count = std::max(1u, divide_up(width_of(selection), length));
  runs.kept = std::min(length, selection.k);
  runs.padded = selection.k <= short_keys;
  // Runs of at most k keys never need more space than their values.
  runs.pitch = runs.padded ? std::size_t{runs.count} * runs.kept : width_of(selection);
  runs.keys = static_cast<Key*>(memory);
  return runs;
}

std::size_t scratch_a_row(const Selection& selection, std::uint32_t length) {
  const Runs runs = runs_of(selection, length, nullptr);
  return runs.count == 1 ? 0 : 2 * runs.pitch * selection.lists * sizeof(Key);
}

cudaError_t merge_runs(const Queue& queue, const Selection& selection, const Runs& runs) {
  const std::uint64_t lists = lists_of(selection);
  const std::uint32_t k = selection.k;
  Pass pass{};
  pass.fan = runs.padded ? std::max(2u, block_keys / k) : 2;
  pass.covered = runs.length;
  pass.from_pitch = runs.pitch;
  Key* memory[2] = {runs.keys, runs.keys + lists * runs.pitch};
  std::uint32_t count = runs.count;
  for (int step = 0; count > 1; ++step) {
    pass.made = divide_up(count, pass.fan);
    pass.from = memory[step % 2];
    pass.to = pass.made == 1 ? nullptr : memory[(step + 1) % 2];
    pass.to_pitch = runs.padded ? std::size_t{pass.made} * k : runs.pitch;
    const auto keys = pass.to ? std::min(2 * pass.covered, std::uint64_t{k}) : k;
    pass.tiles = static_cast<std::uint32_t>(divide_up<std::uint64_t>(keys, tile));
    const cudaError_t error = runs.padded ? launch(queue, merge_short_runs, lists * pass.made, run_threads,
                                                   shared_bytes(pass.fan, k), selection, pass)
                                          : launch(queue, merge_long_runs, lists * pass.made * pass.tiles,
                                                   run_threads, 0, selection, pass);
    if (error != cudaSuccess) return error;
    count = pass.made;
    pass.covered *= pass.fan;
    pass.from_pitch = pass.to_pitch;
  }
  return cudaSuccess;
}

}  // namespace kith::cuda
