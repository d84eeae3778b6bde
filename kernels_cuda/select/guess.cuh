// A guessed bound for lists of many neighbours, and the keys that pass it.
//
// The bound of a list comes from a 32nd of its columns, such that about 3 k / 2 keys pass. Then all columns
// are read once, in slices, by one block each. Slices of a list do not wait for each other, so that few long
// lists fill the GPU, too.
// Work: every distance is read once, a 32nd of them twice.
// Source: Floyd, Rivest, Expected time bounds for selection, 1975.
// No twin in kernels_cl: select_guess.cl has this.
#pragma once

#include "common/shortlist.cuh"
#include "select/value_steps.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t slice_threads = 128, slice_steps = 8;
inline constexpr std::uint32_t slice_columns = slice_steps * slice_threads * runs * 4;

// The sample takes 32 columns, which are a line of memory, of every 1024.
inline constexpr std::uint32_t sampled = 32, sample_rate = 32, sample_columns = sampled * sample_rate;

/// Keys that passed the guessed bound of their list, in no order.
struct Passed {
  Key* keys;              // [lists, capacity]
  Key* bounds;            // [lists]
  std::uint32_t* counts;  // [lists] keys that passed; above capacity, some had no place
  std::uint32_t capacity;
};

/// Guesses the bound of list b by block b: the value below which about 3 k / 2 columns are, as a key. This is
/// the `rank`-th value of the sample, which is found in a buffer of `capacity` keys.
template <std::uint32_t threads>
__device__ __forceinline__ void guess_bound(const Selection& selection, const Passed& passed, Key* buffer,
                                            std::uint32_t capacity) {
  __shared__ ShortlistState<1> state;
  const Part part = part_of(selection, blockIdx.x);
  // About k / 32 of the k nearest are in the sample, and hardly ever more than four deviations above that.
  const std::uint32_t mean = selection.k / sample_rate;
  const auto rank = mean + static_cast<std::uint32_t>(4.0f * sqrtf(static_cast<float>(mean))) + 4;
  Shortlist<1> sample(state, buffer, capacity, rank);
  sample.start([](std::uint32_t) { return true; });
  bool seeded = false;
  constexpr std::uint32_t step = threads / sampled * sample_columns;
  for (std::uint64_t c0 = 0; c0 < part.count; c0 += 4 * step) {
    float value[4];
#pragma unroll
    for (std::uint32_t v = 0; v < 4; ++v)
      value[v] = part.value(c0 + v * step + threadIdx.x / sampled * sample_columns + threadIdx.x % sampled);
    const float least = least_of(value);
    if (!seeded) sample.seed([&](int) { return isnan(least) ? no_value : ordered_bits(least); });
    seeded = true;
    // Thread and place distinguish equal values, so that all of them count.
    sample.offer<4>(passing(value, least, sample.value(0)), [&](int, int v) {
      return key_of(value[v],
                    static_cast<std::uint32_t>(c0) + static_cast<std::uint32_t>(v) * threads + threadIdx.x);
    });
  }
  sample.finish();
  if (threadIdx.x != 0) return;
  passed.bounds[blockIdx.x] = last_key_of(static_cast<std::uint32_t>(sample.at(0, rank - 1) >> 32));
  passed.counts[blockIdx.x] = 0;
}

/// Keys that a warp has found and not yet appended to its list.
struct WarpKeys {
  static constexpr std::uint32_t most = 128;
  Key* keys;  // [most], in shared memory
  std::uint32_t count;

  /// Appends the keys that are here to the list, and reserves places for `more` of them, of which `place` is
  /// the first. Returns false if the list has no room for all, so that its count exceeds the capacity.
  __device__ bool append(const Passed& passed, std::uint32_t list, std::uint32_t more, std::uint32_t& place) {
    const std::uint32_t lane = threadIdx.x % 32;
    std::uint32_t first = 0;
    if (lane == 0) first = atomicAdd(&passed.counts[list], count + more);
    first = __shfl_sync(0xFFFFFFFFu, first, 0);
    if (first + count + more > passed.capacity) return false;
    Key* to = passed.keys + std::size_t{list} * passed.capacity + first;
    for (std::uint32_t i = lane; i < count; i += 32) to[i] = keys[i];
    place = first + count;
    count = 0;
    __syncwarp();
    return true;
  }
};

/// Appends the keys of a slice that pass the bound of its list, one slice per block.
static __global__ __launch_bounds__(slice_threads) void filter_slices(const Selection selection,
                                                                      const Passed passed,
                                                                      const std::uint32_t slices) {
  __shared__ Key kept[slice_threads / 32][WarpKeys::most];
  const std::uint32_t list = blockIdx.x / slices, slice = blockIdx.x % slices, lane = threadIdx.x % 32;
  const std::uint32_t q = list / selection.lists, g = list % selection.lists;
  const Columns columns = columns_of(g, selection.lists, selection.columns);
  const float* row = selection.distances.data + q * selection.distances.stride;
  const std::int64_t first = first_step(row, columns) + std::int64_t{slice} * slice_columns;
  const std::int64_t end = min(first + slice_columns, std::int64_t{columns.end});
  const float limit = bound_value(passed.bounds[list]);
  WarpKeys warp{kept[threadIdx.x / 32], 0};
  std::uint32_t place = 0;
  for (std::int64_t c0 = first; c0 < end; c0 += slice_threads * runs * 4) {
    float value[runs * 4];
    read_step<slice_threads>(value, row, c0, columns);
    const std::uint32_t pending = passing(value, least_of(value), limit);
    if (!__any_sync(0xFFFFFFFFu, pending != 0)) continue;
    const auto mine = static_cast<std::uint32_t>(__popc(pending));
    std::uint32_t up_to = mine;
#pragma unroll
    for (std::uint32_t step = 1; step < 32; step *= 2) {
      const std::uint32_t other = __shfl_up_sync(0xFFFFFFFFu, up_to, step);
      if (lane >= step) up_to += other;
    }
    const std::uint32_t total = __shfl_sync(0xFFFFFFFFu, up_to, 31);
    Key* to = warp.keys + warp.count;
    if (warp.count + total <= WarpKeys::most) {
      warp.count += total;
    } else {
      if (!warp.append(passed, list, total, place)) return;
      to = passed.keys + std::size_t{list} * passed.capacity + place;
    }
    to += up_to - mine;
#pragma unroll
    for (std::uint32_t v = 0; v < runs * 4; ++v)
      if ((pending >> v & 1) != 0)
        *to++ = key_of(value[v],
                       static_cast<std::uint32_t>(column_of<slice_threads>(c0, v)) + selection.first_row);
    __syncwarp();
  }
  if (warp.count != 0) warp.append(passed, list, 0, place);
}

}  // namespace kith::cuda
