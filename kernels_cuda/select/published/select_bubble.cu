// select, bubble: K bubbles walk through the values of each list; each carries away the smallest value
// that those before it left.
//
//   distances [q, t]            NaN only if masked
//   out       [q, lists * k]    keys, ascending in each list, padded with no_key
//
// A bubble walks through the list's values. At each place it keeps the smaller of the value it carries and
// the value it finds, and leaves the larger to the bubble behind it. Bubbles enter one after another until
// all are in (growing), and then walk to the end together (stable); in the end bubble i carries the i-th
// smallest value. The value that a bubble leaves is used by the next bubble in the next step, and never
// again. Bubbles are therefore kept in registers, several per lane, and the values they leave are passed to
// the next lane by a shuffle.
//   k <= 32     Eight lanes handle a list, with up to four bubbles each: four lists per warp. No barrier. If
//               there are too few lists to keep the device busy, a block handles a list: its threads divide
//               the values, and all k bubbles walk through the values of each thread; then the threads' lists
//               are merged in pairs, with one barrier per step.
//   k <= 256    A warp handles a list, with up to eight bubbles per lane. No barrier.
//   k <= 4096   A block handles a list, with up to 16 warps: each passes 32 values to the next through shared
//               memory, with one barrier for every 32 values.
//   beyond      4096 bubbles walk, and write the values that they do not carry to scratch; then the next 4096
//               walk through those.
// Work: k compare-exchanges and one step per value; every value is read once. Shared memory: none, or 9 KiB.
// Scratch: none, or 8 bytes per value. Source: PBKNN (He, Pu, Li, Yan 2016), where each bubble is a
// work-item, with one barrier per step.
#include "common/sort.cuh"
#include "select/select_rounds.cuh"

namespace kith::cuda {
namespace bubble {
namespace {

constexpr std::uint32_t whole_warp = 0xFFFFFFFFu;
constexpr std::uint32_t threads = 128;    // threads of a block whose warps do not cooperate
constexpr std::uint32_t few_lanes = 8;    // lanes of a list with few bubbles
constexpr std::uint32_t most_warps = 16;  // warps of a list with many bubbles
constexpr int most_each = 8;              // bubbles per lane
constexpr std::uint32_t lane_bubbles = 32 * most_each, most_bubbles = most_warps * lane_bubbles;

/// Passes a value through all bubbles of a lane; returns the value that they leave.
template <int each>
__device__ __forceinline__ Key meet(Key (&carried)[each], Key found) {
#pragma unroll
  for (int b = 0; b < each; ++b) exchange(carried[b], found);
  return found;
}

/// A team of `lanes` lanes selects list number thread / lanes; lane l has bubbles from l * each on.
template <std::uint32_t lanes, int each>
__global__ __launch_bounds__(threads) void select_by_teams(const Selection selection,
                                                           const std::uint32_t lists) {
  constexpr std::uint32_t held = 32 / lanes;  // of each 32 values, those that a lane of the team loads
  constexpr int unrolled = 8;                 // steps
  const std::uint32_t lane = threadIdx.x % lanes;
  const std::uint64_t list = (std::uint64_t{blockIdx.x} * threads + threadIdx.x) / lanes;
  const Part part = list < lists ? part_of(selection, static_cast<std::uint32_t>(list)) : Part{};
  Key carried[each];
#pragma unroll
  for (int b = 0; b < each; ++b) carried[b] = no_key;
  Key left = no_key;
  float next[held];
#pragma unroll
  for (std::uint32_t h = 0; h < held; ++h) next[h] = part.value(h * lanes + lane);

  // All teams of a warp walk as far as the longest part goes; behind its end a team finds no values.
  const std::uint64_t steps = std::uint64_t{width_of(selection)} + lanes - 1;
  for (std::uint64_t begin = 0; begin < steps; begin += 32) {
    std::uint32_t code[held];
#pragma unroll
    for (std::uint32_t h = 0; h < held; ++h) {
      code[h] = isnan(next[h]) ? no_value : ordered_bits(next[h]);
      next[h] = part.value(begin + 32 + h * lanes + lane);
    }
    const std::uint32_t row = part.first_row + static_cast<std::uint32_t>(begin);
#pragma unroll
    for (std::uint32_t h = 0; h < held; ++h) {
#pragma unroll unrolled
      for (std::uint32_t i = 0; i < lanes; ++i) {
        const std::uint32_t value = __shfl_sync(whole_warp, code[h], static_cast<int>(i), lanes);
        const Key passed = __shfl_up_sync(whole_warp, left, 1, lanes);
        const Key first = static_cast<Key>(value) << 32 | (row + h * lanes + i);
        left = meet(carried, lane == 0 ? first : passed);
      }
    }
  }
  if (list >= lists) return;
#pragma unroll
  for (std::uint32_t b = 0; b < each; ++b) {
    // Values that were found behind the end have no row of their own.
    const Key key = carried[b] >> 32 == no_value ? no_key : carried[b];
    if (lane * each + b < selection.k) part.out[lane * each + b] = key;
  }
}

/// Block b selects list b. Each thread has all bubbles for its share of the values; `places` is a power
/// of two.
template <int places>
__global__ __launch_bounds__(threads) void select_by_shares(const Selection selection) {
  constexpr std::uint32_t together = 4;    // values that walk together, one step apart
  __shared__ Key lists[places * threads];  // key b of thread i's list at b * threads + i
  const Part part = part_of(selection, blockIdx.x);
  Key carried[places];
#pragma unroll
  for (int b = 0; b < places; ++b) carried[b] = no_key;
  for (std::uint64_t i0 = threadIdx.x; i0 < part.count; i0 += together * threads) {
    Key left[together];
#pragma unroll
    for (std::uint32_t i = 0; i < together; ++i) left[i] = part.key(i0 + i * threads);
#pragma unroll
    for (std::uint32_t i = 0; i < together; ++i) left[i] = meet(carried, left[i]);
  }
#pragma unroll
  for (int b = 0; b < places; ++b) lists[b * threads + threadIdx.x] = carried[b];
  __syncthreads();

  // The smaller of each key and its mirror image in the other list is kept; a few steps of a bitonic network
  // (Batcher 1968) sort these.
  for (std::uint32_t side = threads / 2; side > 0; side /= 2) {
    for (std::uint32_t i = threadIdx.x; i < side * places; i += threads) {
      Key* const key = lists + i / side * threads + i % side;
      *key = min(*key, lists[(places - 1 - i / side) * threads + i % side + side]);
    }
    __syncthreads();
#pragma unroll
    for (std::uint32_t step = places / 2; step > 0; step /= 2) {
      for (std::uint32_t i = threadIdx.x; i < side * places / 2; i += threads) {
        const std::uint32_t pair = i / side, b = 2 * pair - (pair & (step - 1));
        Key* const low = lists + b * threads + i % side;
        exchange(low[0], low[step * threads]);
      }
      __syncthreads();
    }
  }
  if (threadIdx.x < selection.k) part.out[threadIdx.x] = lists[threadIdx.x * threads];
}

/// Keys that warps hand on, in two buffers used in turn. Warp w takes 32 keys from handed[w], and leaves 32
/// in handed[w + 1] for the next phase.
using Handed = Key[most_warps + 1][2][32];

/// Block b selects list b. Bubble b of a walk is in warp b / (32 * each).
///   rest  [lists, width]  values that a walk leaves for the next; null if one walk is enough
template <int each>
__global__ __launch_bounds__(32 * most_warps) void select_by_blocks(const Selection selection, Key* rest) {
  __shared__ Handed handed;
  const std::uint32_t warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x % 32;
  const std::uint32_t bubbles = blockDim.x * each, k = selection.k;
  const Part part = part_of(selection, blockIdx.x);
  if (rest) rest += std::size_t{blockIdx.x} * width_of(selection);

  // The bubbles walk through the part's values; later ones walk through the values that earlier ones left.
  const Key* found = nullptr;
  std::uint32_t count = part.count;
  const auto at = [&](std::uint64_t i) { return i >= count ? no_key : found ? found[i] : part.key(i); };
  for (std::uint64_t done = 0; done < k; done += bubbles) {
    Key carried[each];
#pragma unroll
    for (int b = 0; b < each; ++b) carried[b] = no_key;
    Key left = no_key;
    const std::uint32_t leaves = count > bubbles ? count - bubbles : 0;
    // Each warp delays a value by 31 steps, so that the last warp ends warps * 31 steps later.
    const std::uint64_t late = std::uint64_t{31} * warps;
    const std::uint64_t turns = count == 0 ? 0 : divide_up(count + late, std::uint64_t{32});
    Key next = warp == 0 ? at(lane) : no_key;
    for (std::uint64_t phase = 0; phase < turns + warps - 1; ++phase) {
      const bool walks = phase >= warp && phase - warp < turns;  // all lanes of a warp agree
      if (walks) {
        const std::uint64_t turn = phase - warp;
        const Key* from = handed[warp][phase % 2];
        Key* to = handed[warp + 1][(phase + 1) % 2];
        if (warp == 0) {
          handed[0][phase % 2][lane] = next;
          next = at((turn + 1) * 32 + lane);
          __syncwarp();
        }
#pragma unroll 4
        for (std::uint32_t i = 0; i < 32; ++i) {
          const Key passed = __shfl_up_sync(whole_warp, left, 1);
          const Key first = from[i];
          left = meet(carried, lane == 0 ? first : passed);
          if (lane == 31) to[i] = left;
        }
        if (warp + 1 == warps && rest) {
          // Every bubble took the first value it met and left nothing, so values begin behind these places.
          __syncwarp();
          const std::uint64_t place = turn * 32 + lane, skipped = late + bubbles;
          if (place >= skipped && place - skipped < leaves) rest[place - skipped] = to[lane];
        }
      }
      __syncthreads();
    }
#pragma unroll
    for (std::uint32_t b = 0; b < each; ++b) {
      const std::uint64_t place = done + threadIdx.x * each + b;
      if (place < k) part.out[place] = carried[b];
    }
    found = rest;
    count = leaves;
  }
}

template <std::uint32_t lanes, int each>
cudaError_t by_teams(const Queue& queue, const Selection& selection) {
  const std::uint32_t lists = lists_of(selection);
  return launch(queue, select_by_teams<lanes, each>, divide_up<std::uint64_t>(lists, threads / lanes),
                threads, 0, selection, lists);
}

template <int each>
cudaError_t by_blocks(const Queue& queue, const Selection& selection, Key* rest) {
  const std::uint32_t warps = std::min(most_warps, divide_up<std::uint32_t>(selection.k, 32 * each));
  return launch(queue, select_by_blocks<each>, lists_of(selection), warps * 32, 0, selection, rest);
}

template <int places>
cudaError_t by_shares(const Queue& queue, const Selection& selection) {
  return launch(queue, select_by_shares<places>, lists_of(selection), threads, 0, selection);
}

cudaError_t without_scratch(const Queue& queue, const Selection& selection) {
  const std::uint32_t k = selection.k;
  // A team handles its values one after another; with so few lists nothing hides the latency of each.
  if (k <= 32 && lists_of(selection) <= 12 * queue.multiprocessors) {
    if (k <= 4) return by_shares<4>(queue, selection);
    if (k <= 8) return by_shares<8>(queue, selection);
    if (k <= 16) return by_shares<16>(queue, selection);
    return by_shares<32>(queue, selection);
  }
  if (k <= 8) return by_teams<few_lanes, 1>(queue, selection);
  if (k <= 16) return by_teams<few_lanes, 2>(queue, selection);
  if (k <= 24) return by_teams<few_lanes, 3>(queue, selection);
  if (k <= 32) return by_teams<few_lanes, 4>(queue, selection);
  if (k <= 64) return by_teams<32, 2>(queue, selection);
  if (k <= 96) return by_teams<32, 3>(queue, selection);
  if (k <= 128) return by_teams<32, 4>(queue, selection);
  if (k <= 192) return by_teams<32, 6>(queue, selection);
  if (k <= lane_bubbles) return by_teams<32, most_each>(queue, selection);
  if (k <= most_bubbles / 2) return by_blocks<most_each / 2>(queue, selection, nullptr);
  return by_blocks<most_each>(queue, selection, nullptr);
}

/// Returns the bytes for the values that the first walk leaves, for the parts of a row.
std::size_t bytes_a_row(const Selection& selection) {
  const std::size_t width = width_of(selection);
  return std::min<std::size_t>(selection.k, width) <= most_bubbles ? 0
                                                                   : width * selection.lists * sizeof(Key);
}

cudaError_t select_rows(const Queue& queue, const Selection& rows, void* scratch) {
  if (bytes_a_row(rows) == 0) return without_scratch(queue, rows);
  return by_blocks<most_each>(queue, rows, static_cast<Key*>(scratch));
}

}  // namespace
}  // namespace bubble

const SelectorKernels bubble_selector =
    selector_by_rows<bubble::bytes_a_row, bubble::select_rows>(Selector::bubble);

}  // namespace kith::cuda
