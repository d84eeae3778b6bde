// select, insertion: one thread keeps one sorted list.
//
//   distances [q, t]            NaN only if masked
//   out       [q, lists * k]    keys, ascending in each list, padded with no_key
//
// Thread l of the grid selects list l, which is list l % lists of row l / lists. It inserts every
// candidate below its last key in order, and moves the keys behind it. Lists are side by side in scratch, [k,
// lists], so that a warp moves keys of 32 lists at once. Distances pass through shared memory, 32 columns of
// 32 lists at a time, so that whole lines are read.
// Work: every distance is read once; in random order, k^2 / 4 (1 + ln(t / (lists k))) moves per list. Shared
// memory: 17 KiB. Source: Garcia, Debreuve, Barlaud 2008.
#include "common/part.cuh"
#include "select/selectors.hpp"

namespace kith::cuda {
namespace insertion {
namespace {

constexpr std::uint32_t threads = 128;
constexpr std::uint32_t moved = 4;

/// Returns the number of lists in scratch: those of a selection, rounded up to fill warps.
std::size_t padded_lists(const Selection& selection) {
  return divide_up(std::size_t{selection.rows} * selection.lists, std::size_t{32}) * 32;
}

/// Returns the number of rows whose lists fit into `bytes`, at least one.
std::uint32_t rows_a_round(const Selection& selection, std::size_t bytes) {
  const std::size_t lists = bytes / (selection.k * sizeof(Key)) / 32 * 32;
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(lists / selection.lists, 1, selection.rows));
}

__global__ __launch_bounds__(threads) void select_by_insertion(const Selection selection, Key* scratch,
                                                               const std::size_t lists) {
  __shared__ float staged[threads / 32][32][33];
  const std::uint32_t lane = threadIdx.x % 32, k = selection.k;
  float(&tile)[32][33] = staged[threadIdx.x / 32];
  const std::size_t l = std::size_t{blockIdx.x} * threads + threadIdx.x;
  if (l - lane >= lists) return;  // all lanes of the warp return
  const std::size_t q = l / selection.lists;
  const auto g = static_cast<std::uint32_t>(l % selection.lists);
  const bool real = q < selection.rows;
  const Columns columns = columns_of(g, selection.lists, selection.columns);
  const std::uint32_t begin = columns.begin, end = real ? columns.end : columns.begin;
  const std::uint32_t width = divide_up(selection.columns, selection.lists);
  const std::size_t row = real ? q * selection.distances.stride : 0;

  Key* list = scratch + l;
  for (std::uint32_t j = 0; j < k; ++j) list[j * lists] = no_key;
  Key last = no_key;
  for (std::uint32_t c0 = 0; c0 < width; c0 += 32) {
    for (int i = 0; i < 32; ++i) {
      const std::size_t row_i = __shfl_sync(0xFFFFFFFFu, static_cast<unsigned long long>(row), i);
      const std::uint64_t c = std::uint64_t{__shfl_sync(0xFFFFFFFFu, begin, i)} + c0 + lane;
      const bool inside = c < __shfl_sync(0xFFFFFFFFu, end, i);
      tile[i][lane] = inside ? selection.distances.data[row_i + c] : not_a_candidate();
    }
    __syncwarp();
    for (std::uint32_t i = 0; i < 32; ++i) {
      const float value = tile[lane][i];
      if (isnan(value)) continue;  // masked, or behind the end
      const Key key = key_of(value, selection.first_row + begin + c0 + i);
      if (key >= last) continue;
      std::uint32_t j = k - 1;
      for (; j >= moved; j -= moved) {  // several are moved at once, so that their loads overlap
        Key before[moved];
#pragma unroll
        for (std::uint32_t i = 0; i < moved; ++i) before[i] = list[(j - 1 - i) * lists];
        if (before[moved - 1] < key) break;
#pragma unroll
        for (std::uint32_t i = 0; i < moved; ++i) list[(j - i) * lists] = before[i];
      }
      for (; j > 0; --j) {
        const Key before = list[(j - 1) * lists];
        if (before < key) break;
        list[j * lists] = before;
      }
      list[j * lists] = key;
      last = list[(k - 1) * lists];
    }
    __syncwarp();
  }
  if (!real) return;
  Key* out = selection.out.data + q * selection.out.stride + static_cast<std::size_t>(g) * k;
  for (std::uint32_t j = 0; j < k; ++j) out[j] = list[j * lists];
}

std::size_t scratch_of(const spi::SelectStep& step) {
  Selection round = selection_of(step);
  round.rows = rows_a_round(round, round_bytes);
  return padded_lists(round) * round.k * sizeof(Key);
}

cudaError_t select(const Queue& queue, const spi::SelectStep& step) {
  const Selection selection = selection_of(step);
  return in_rounds(selection, rows_a_round(selection, step.scratch.bytes), [&](const Selection& rows) {
    const std::size_t lists = padded_lists(rows);
    return launch(queue, select_by_insertion, divide_up(lists, std::size_t{threads}), threads, 0, rows,
                  address_of<Key>(step.scratch), lists);
  });
}

}  // namespace
}  // namespace insertion

const SelectorKernels insertion_selector{Selector::insertion, insertion::scratch_of, insertion::select};

}  // namespace kith::cuda
