// select, threshold: filters values by the k-th key so far; keys that pass go to a buffer, which is sorted
// when full.
//
//   distances [q, t]            NaN only if masked
//   out       [q, groups * k]   keys, ascending in each list, padded with no_key
//
// Block b selects group b % groups of row b / groups, 2048 columns per step, with four runs of four columns
// per thread and one barrier per step. Blocks are small, so that 8 fit on a multiprocessor, and others read
// while one sorts. For small k the first step gives a first bound (shortlist.cuh, seed). For large k the
// bound is guessed from a 32nd of the columns, so that about 3 k / 2 keys pass and the buffer is sorted once.
// If fewer than k pass, the guess was too low, and the columns are read again without it. For k above 2048
// the buffer is in scratch, and blocks are larger; the rest is the same. Work: every distance is read once, a
// 32nd of them twice; in random order and without the guess, each list keeps k (1 + ln(t / (groups k))) keys.
// Shared memory: capacity keys, 8 to 32 KiB. Scratch for k above 2048: capacity keys per list, up to 4 k.
// Source: see shortlist.cuh; the guess: Floyd, Rivest, Expected time bounds for selection, 1975.
#include "common/shortlist.cuh"
#include "select/select_rounds.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t shared_threads = 128, scratch_threads = 1024;  // depends on where the buffer is
constexpr std::uint32_t runs = 4;                                      // runs of four columns per thread
                                                                       // and step

// The sample takes 32 columns, which are a line of memory, of every 1024.
constexpr std::uint32_t sampled = 32, sample_rate = 32, sample_columns = sampled * sample_rate;
constexpr std::uint32_t guess_from_k = 96;

/// Returns the column of value v of a thread, in the step that begins at column c0.
template <std::uint32_t threads>
__device__ __forceinline__ std::int64_t column_of(std::int64_t c0, std::uint32_t v) {
  return c0 + (v / 4 * threads + threadIdx.x) * 4 + v % 4;
}

/// Reads the values of a step; columns outside begin .. end - 1 get values that are no candidates.
template <std::uint32_t threads>
__device__ __forceinline__ void read_step(float (&value)[runs * 4], const float* row, std::int64_t c0,
                                          const Columns& columns) {
  if (c0 >= columns.begin && c0 + threads * runs * 4 <= columns.end) {
#pragma unroll
    for (std::uint32_t run = 0; run < runs; ++run) {
      const float4 four = __ldcs(reinterpret_cast<const float4*>(row + column_of<threads>(c0, run * 4)));
      value[run * 4] = four.x;
      value[run * 4 + 1] = four.y;
      value[run * 4 + 2] = four.z;
      value[run * 4 + 3] = four.w;
    }
    return;
  }
#pragma unroll
  for (std::uint32_t v = 0; v < runs * 4; ++v) {
    const std::int64_t c = column_of<threads>(c0, v);
    value[v] = c >= columns.begin && c < columns.end ? row[c] : not_a_candidate();
  }
}

/// Offers the values of all columns.
template <std::uint32_t threads>
__device__ __forceinline__ void scan(Shortlist<1>& shortlist, const float* row, const Columns& columns,
                                     std::uint32_t first_row, bool seeded) {
  if (columns.begin >= columns.end) return;
  // Steps are aligned to 16 bytes, so that the first may begin up to 3 columns early; these are not read.
  const auto misplaced =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(row + columns.begin) % 16 / 4);
  for (std::int64_t c0 = columns.begin - misplaced; c0 < columns.end; c0 += threads * runs * 4) {
    float value[runs * 4];
    read_step<threads>(value, row, c0, columns);
    float least = value[0];
#pragma unroll
    for (std::uint32_t v = 1; v < runs * 4; ++v) least = fminf(least, value[v]);
    if (!seeded) shortlist.seed([&](int) { return isnan(least) ? no_value : ordered_bits(least); });
    seeded = true;

    const float limit = shortlist.value(0);
    std::uint32_t pending = 0;
    if (least <= limit) {
#pragma unroll
      for (std::uint32_t v = 0; v < runs * 4; ++v)
        if (value[v] <= limit) pending |= 1u << v;
    }
    shortlist.offer<runs * 4>(pending, [&](int, int v) {
      return key_of(
          value[v],
          static_cast<std::uint32_t>(column_of<threads>(c0, static_cast<std::uint32_t>(v))) + first_row);
    });
  }
}

/// Guesses the value below which about 3 k / 2 columns are: the `rank`-th of the sample. Returns it as a key.
template <std::uint32_t threads>
__device__ Key guess(ShortlistState<1>& state, Key* buffer, std::uint32_t capacity, std::uint32_t rank,
                     const float* row, const Columns& columns) {
  Shortlist<1> sample(state, buffer, capacity, rank);
  sample.start([](std::uint32_t) { return true; });
  bool seeded = false;
  constexpr std::uint32_t step = threads / sampled * sample_columns;
  for (std::uint64_t c0 = columns.begin; c0 < columns.end; c0 += 4 * step) {
    float value[4];
#pragma unroll
    for (std::uint32_t v = 0; v < 4; ++v) {
      const std::uint64_t c = c0 + v * step + threadIdx.x / sampled * sample_columns + threadIdx.x % sampled;
      value[v] = c < columns.end ? row[c] : not_a_candidate();
    }
    const float least = fminf(fminf(value[0], value[1]), fminf(value[2], value[3]));
    if (!seeded) sample.seed([&](int) { return isnan(least) ? no_value : ordered_bits(least); });
    seeded = true;
    const float limit = sample.value(0);
    std::uint32_t pending = 0;
#pragma unroll
    for (std::uint32_t v = 0; v < 4; ++v)
      if (value[v] <= limit) pending |= 1u << v;
    // Thread and place distinguish equal values, so that all of them count.
    sample.offer<4>(pending, [&](int, int v) {
      return key_of(value[v],
                    static_cast<std::uint32_t>(c0) + static_cast<std::uint32_t>(v) * threads + threadIdx.x);
    });
  }
  sample.finish();
  const Key key = sample.at(0, rank - 1);
  __syncthreads();
  return last_key_of(static_cast<std::uint32_t>(key >> 32));
}

/// Selects from one part. `buffer` has room for `capacity` keys.
template <std::uint32_t threads>
__device__ __forceinline__ void select_part(const Selection& selection, Key* buffer, std::uint32_t capacity) {
  __shared__ ShortlistState<1> state;
  const std::uint32_t q = blockIdx.x / selection.groups, g = blockIdx.x % selection.groups, k = selection.k;
  const Columns columns = columns_of(g, selection.groups, selection.columns);
  const float* row = selection.distances.data + q * selection.distances.stride;
  Shortlist<1> shortlist(state, buffer, capacity, k);

  // About k / 32 of the k nearest are in the sample, and hardly ever more than four deviations above that.
  const std::uint32_t mean = k / sample_rate;
  const auto rank = mean + static_cast<std::uint32_t>(4.0f * sqrtf(static_cast<float>(mean))) + 4;
  bool guessed = k >= guess_from_k && (columns.end - columns.begin) / 64 >= k;
  Key bound = no_key;
  if (guessed) bound = guess<threads>(state, buffer, capacity, rank, row, columns);
  for (;;) {
    shortlist.start([](std::uint32_t) { return true; }, bound);
    scan<threads>(shortlist, row, columns, selection.first_row, guessed);
    if (!guessed || shortlist.found() >= k) break;
    guessed = false;
    bound = no_key;
    __syncthreads();
  }

  Key* list = selection.out.data + q * selection.out.stride + static_cast<std::size_t>(g) * k;
  shortlist.deliver([&](std::uint32_t, std::uint32_t j, Key key) { list[j] = key; });
}

__global__ __launch_bounds__(shared_threads, 8) void select_in_shared(const Selection selection,
                                                                      const std::uint32_t capacity) {
  extern __shared__ Key buffer[];
  select_part<shared_threads>(selection, buffer, capacity);
}

/// Each block has a buffer of `capacity` keys in scratch.
__global__ __launch_bounds__(scratch_threads) void select_in_scratch(const Selection selection, Key* buffers,
                                                                     const std::uint32_t capacity) {
  select_part<scratch_threads>(selection, buffers + std::size_t{blockIdx.x} * capacity, capacity);
}

bool fits_shared(const Selection& selection) {
  return selection.k <= threshold_max_k;
}

/// Returns the number of keys of a buffer: more than k, unless it holds all values of a part.
std::uint32_t capacity_of(const Selection& selection) {
  constexpr std::uint32_t fewest = scratch_threads;  // Shortlist::seed
  const std::uint32_t enough = power_of_two(selection.k);
  if (!fits_shared(selection) && width_of(selection) <= enough) return enough;
  return std::max(fewest, 2 * enough);
}

std::size_t bytes_a_row(const Selection& selection) {
  return fits_shared(selection) ? 0 : std::size_t{capacity_of(selection)} * selection.groups * sizeof(Key);
}

cudaError_t select_rows(const Queue& queue, const Selection& rows, void* scratch) {
  const std::uint32_t capacity = capacity_of(rows);
  if (fits_shared(rows))
    return launch(queue, select_in_shared, lists_of(rows), shared_threads, capacity * sizeof(Key), rows,
                  capacity);
  return launch(queue, select_in_scratch, lists_of(rows), scratch_threads, 0, rows,
                static_cast<Key*>(scratch), capacity);
}

}  // namespace

const SelectorKernels threshold_selector = selector_by_rows<bytes_a_row, select_rows>(Selector::threshold);

}  // namespace kith::cuda
