// select, threshold: a running k-th key as a filter, what passes it buffered and sorted when full.
//
//   distances [q, t]            no NaN
//   out       [q, groups * k]   keys, ascending in each list, padded with no_key
//
// Block b finds group b % groups of row b / groups: 4096 columns a step, a thread four runs of four,
// the next step's on their way while this one is compared; one barrier a step. A first bound comes
// from the first step (shortlist.cuh, seed).
// Work: every distance read once; k (1 + ln(t / (groups k))) keys kept a list, on data in random
// order. Shared memory: capacity keys, 8 to 32 KiB. Source: see shortlist.cuh.
#include "shortlist.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t threads = 256;
constexpr std::uint32_t runs = 4;  // of four columns, a thread and step
constexpr std::uint32_t step_columns = threads * runs * 4;

/// Column of value v of a thread, in the step that begins at column c0.
__device__ __forceinline__ std::int64_t column_of(std::int64_t c0, std::uint32_t v) {
  return c0 + (v / 4 * threads + threadIdx.x) * 4 + v % 4;
}

/// Read a step; columns outside begin .. end - 1 become no candidates.
__device__ __forceinline__ void read_step(float (&value)[runs * 4], const float* row, std::int64_t c0,
                                          const Columns& columns) {
  if (c0 >= columns.begin && c0 + step_columns <= columns.end) {
#pragma unroll
    for (std::uint32_t run = 0; run < runs; ++run) {
      const float4 four = __ldcs(reinterpret_cast<const float4*>(row + column_of(c0, run * 4)));
      value[run * 4] = four.x;
      value[run * 4 + 1] = four.y;
      value[run * 4 + 2] = four.z;
      value[run * 4 + 3] = four.w;
    }
    return;
  }
#pragma unroll
  for (std::uint32_t v = 0; v < runs * 4; ++v) {
    const std::int64_t c = column_of(c0, v);
    value[v] = c >= columns.begin && c < columns.end ? row[c] : not_a_candidate();
  }
}

__global__ __launch_bounds__(threads, 3) void select_by_threshold(const Selection selection,
                                                                  const std::uint32_t capacity) {
  extern __shared__ Key buffer[];
  __shared__ ShortlistState<1> state;
  Shortlist<1> shortlist(state, buffer, capacity, selection.k);
  const std::uint32_t q = blockIdx.x / selection.groups, g = blockIdx.x % selection.groups;
  const Columns columns = columns_of(g, selection.groups, selection.columns);
  const float* row = selection.distances.data + q * selection.distances.stride;
  shortlist.start([](std::uint32_t) { return true; });

  // Steps begin where 16 bytes do: up to 3 columns before the first, which are not read.
  const auto misplaced =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(row + columns.begin) % 16 / 4);
  std::int64_t c0 = columns.begin - misplaced;
  float value[runs * 4];
  read_step(value, row, c0, columns);
  bool seeded = false;
  for (; c0 < columns.end && columns.begin < columns.end; c0 += step_columns) {
    float next[runs * 4];
    read_step(next, row, c0 + step_columns, columns);
    const auto key_at = [&](int, int v) {
      return key_of(value[v], static_cast<std::uint32_t>(column_of(c0, v)) + selection.first_row);
    };
    if (!seeded)
      shortlist.seed<runs * 4>([&](int, int v) { return isnan(value[v]) ? no_key : key_at(0, v); });
    seeded = true;

    float least = value[0];
#pragma unroll
    for (std::uint32_t v = 1; v < runs * 4; ++v) least = fminf(least, value[v]);
    const float limit = shortlist.value(0);
    std::uint32_t pending = 0;
    if (least <= limit) {
#pragma unroll
      for (std::uint32_t v = 0; v < runs * 4; ++v)
        if (value[v] <= limit) pending |= 1u << v;
    }
    shortlist.offer<runs * 4>(pending, key_at);
#pragma unroll
    for (std::uint32_t v = 0; v < runs * 4; ++v) value[v] = next[v];
  }

  shortlist.finish();
  Key* list = selection.out.data + q * selection.out.stride + static_cast<std::size_t>(g) * selection.k;
  for (std::uint32_t j = threadIdx.x; j < selection.k; j += threads) list[j] = shortlist.at(0, j);
}

}  // namespace

cudaError_t select_threshold(const Queue& queue, const Selection& selection) {
  const std::uint32_t capacity = std::max<std::uint32_t>(1024, 2 * power_of_two(selection.k));
  return launch(queue, select_by_threshold, std::uint64_t{selection.rows} * selection.groups, threads,
                capacity * sizeof(Key), selection, capacity);
}

}  // namespace kith::cuda
