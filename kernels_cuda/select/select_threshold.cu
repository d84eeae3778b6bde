// select, threshold: filters values by the k-th key so far; keys that pass go to a buffer, which is sorted
// when full.
//
//   distances [q, t]            NaN only if masked
//   out       [q, lists * k]    keys, ascending in each list, padded with no_key
//
// Block b selects list b % lists of row b / lists, 2048 columns per step, with four runs of four columns
// per thread and one barrier per step. Blocks are small, so that 8 fit on a multiprocessor, and others read
// while one sorts. For small k the first step gives a first bound (shortlist.cuh, seed). For large k a bound
// is guessed, all columns are filtered by it, and one more kernel sorts what passed (guess.cuh). If fewer
// than k keys of a list passed, or too many, the list is selected as if nothing had been guessed. For k above
// 2048 the buffer is in scratch, and blocks are larger; the rest is the same.
// Work: every distance is read once, a 32nd of them twice; in random order and without the guess, each list
// keeps k (1 + ln(t / (lists k))) keys. Shared memory: capacity keys, 8 to 64 KiB. Scratch for k above 2048,
// or with a guess: capacity + 2 keys per list, capacity up to 8 k.
// Source: see shortlist.cuh and guess.cuh.
#include <cub/block/block_merge_sort.cuh>

#include "select/guess.cuh"
#include "select/select_rounds.cuh"

namespace kith::cuda {
namespace {

// Threads of a block, depending on where the buffer is.
constexpr std::uint32_t shared_threads = 128, scratch_threads = 1024, sort_threads = 256;

constexpr std::uint32_t guess_from_k = 96;
constexpr std::uint32_t sample_capacity = 1024;  // keys of a sample in shared memory

/// Offers the values of all columns to an empty shortlist.
template <std::uint32_t threads>
__device__ __forceinline__ void scan(Shortlist<1>& shortlist, const float* row, const Columns& columns,
                                     std::uint32_t first_row) {
  if (columns.begin >= columns.end) return;
  bool seeded = false;
  for (std::int64_t c0 = first_step(row, columns); c0 < columns.end; c0 += threads * runs * 4) {
    float value[runs * 4];
    read_step<threads>(value, row, c0, columns);
    const float least = least_of(value);
    if (!seeded) shortlist.seed([&](int) { return isnan(least) ? no_value : ordered_bits(least); });
    seeded = true;
    shortlist.offer<runs * 4>(passing(value, least, shortlist.value(0)), [&](int, int v) {
      return key_of(
          value[v],
          static_cast<std::uint32_t>(column_of<threads>(c0, static_cast<std::uint32_t>(v))) + first_row);
    });
  }
}

/// Selects list `list` from its columns. `buffer` has room for `capacity` keys.
template <std::uint32_t threads>
__device__ __forceinline__ void select_part(ShortlistState<1>& state, const Selection& selection,
                                            std::uint32_t list, Key* buffer, std::uint32_t capacity) {
  const std::uint32_t q = list / selection.lists, g = list % selection.lists;
  const Columns columns = columns_of(g, selection.lists, selection.columns);
  Shortlist<1> shortlist(state, buffer, capacity, selection.k);
  shortlist.start([](std::uint32_t) { return true; });
  scan<threads>(shortlist, selection.distances.data + q * selection.distances.stride, columns,
                selection.first_row);
  Key* out = part_of(selection, list).out;
  shortlist.deliver([&](std::uint32_t, std::uint32_t j, Key key) { out[j] = key; });
}

__global__ __launch_bounds__(shared_threads, 8) void select_in_shared(const Selection selection,
                                                                      const std::uint32_t capacity) {
  extern __shared__ Key buffer[];
  __shared__ ShortlistState<1> state;
  select_part<shared_threads>(state, selection, blockIdx.x, buffer, capacity);
}

/// Each block has a buffer of `capacity` keys in scratch.
__global__ __launch_bounds__(scratch_threads) void select_in_scratch(const Selection selection, Key* buffers,
                                                                     const std::uint32_t capacity) {
  __shared__ ShortlistState<1> state;
  select_part<scratch_threads>(state, selection, blockIdx.x, buffers + std::size_t{blockIdx.x} * capacity,
                               capacity);
}

__global__ __launch_bounds__(slice_threads) void guess_in_shared(const Selection selection,
                                                                 const Passed passed,
                                                                 const std::uint32_t capacity) {
  extern __shared__ Key buffer[];
  guess_bound<slice_threads>(selection, passed, buffer, capacity);
}

__global__ __launch_bounds__(scratch_threads) void guess_in_scratch(const Selection selection,
                                                                    const Passed passed) {
  guess_bound<scratch_threads>(selection, passed, passed.keys + std::size_t{blockIdx.x} * passed.capacity,
                               passed.capacity);
}

/// Sorts `count` keys by a block, and writes the first k.
template <std::uint32_t items>
__device__ __forceinline__ void sort_passed(const Key* keys, std::uint32_t count, std::uint32_t k, Key* out,
                                            void* memory) {
  using Sort = cub::BlockMergeSort<Key, sort_threads, items>;
  Key key[items];
#pragma unroll
  for (std::uint32_t i = 0; i < items; ++i) {
    const std::uint32_t place = i * sort_threads + threadIdx.x;
    key[i] = place < count ? keys[place] : no_key;
  }
  Sort(*static_cast<typename Sort::TempStorage*>(memory)).Sort(key, [](Key a, Key b) { return a < b; });
#pragma unroll
  for (std::uint32_t i = 0; i < items; ++i)
    if (threadIdx.x * items + i < k) out[threadIdx.x * items + i] = key[i];
}

/// Returns whether the guess gave all k nearest of the list of this block, and there was room for them.
__device__ __forceinline__ bool guessed_well(const Selection& selection, const Passed& passed) {
  const std::uint32_t count = passed.counts[blockIdx.x];
  return count >= selection.k && count <= passed.capacity;
}

/// Sorts the keys that passed for list b by block b, or selects it from its columns.
///   items  keys per thread: half of the capacity, which nearly all lists keep to
template <std::uint32_t items>
__global__ __launch_bounds__(sort_threads) void finish_in_shared(const Selection selection,
                                                                 const Passed passed) {
  extern __shared__ Key buffer[];
  __shared__ ShortlistState<1> state;
  if (!guessed_well(selection, passed))
    return select_part<sort_threads>(state, selection, blockIdx.x, buffer, passed.capacity);
  const std::uint32_t count = passed.counts[blockIdx.x];
  const Key* keys = passed.keys + std::size_t{blockIdx.x} * passed.capacity;
  Key* out = part_of(selection, blockIdx.x).out;
  if (count <= items * sort_threads)
    sort_passed<items>(keys, count, selection.k, out, buffer);
  else
    sort_passed<2 * items>(keys, count, selection.k, out, buffer);
}

/// The same, in scratch.
__global__ __launch_bounds__(scratch_threads) void finish_in_scratch(const Selection selection,
                                                                     const Passed passed) {
  __shared__ ShortlistState<1> state;
  Key* keys = passed.keys + std::size_t{blockIdx.x} * passed.capacity;
  if (!guessed_well(selection, passed))
    return select_part<scratch_threads>(state, selection, blockIdx.x, keys, passed.capacity);
  if (threadIdx.x == 0) state.count[0] = passed.counts[blockIdx.x];
  __syncthreads();
  Key* out = part_of(selection, blockIdx.x).out;
  Shortlist<1>(state, keys, passed.capacity, selection.k)
      .deliver([&](std::uint32_t, std::uint32_t j, Key key) { out[j] = key; });
}

bool fits_shared(const Selection& selection) {
  return selection.k <= threshold_max_k;
}

/// Keys of a buffer: more than k, unless all of a part fits.
std::uint32_t capacity_of(const Selection& selection) {
  constexpr std::uint32_t fewest = scratch_threads;  // Shortlist::seed
  const std::uint32_t enough = power_of_two(selection.k);
  if (!fits_shared(selection) && width_of(selection) <= enough) return enough;
  return std::max(fewest, 2 * enough);
}

/// Returns whether so many are wanted, of so many, that a guess pays.
bool guesses(const Selection& selection) {
  return selection.k >= guess_from_k && width_of(selection) / 64 >= selection.k;
}

/// Returns the keys that a list has room for if its bound is guessed: in shared memory twice what nearly all
/// lists need, since a list that overflows is selected from its columns, which all others wait for.
std::uint32_t capacity_of_guess(const Selection& selection) {
  if (!fits_shared(selection)) return capacity_of(selection);
  return std::max(8 * sort_threads, 4 * power_of_two(selection.k));
}

std::size_t bytes_a_row(const Selection& selection) {
  if (guesses(selection))
    return (std::size_t{capacity_of_guess(selection)} + 2) * selection.lists * sizeof(Key);
  return fits_shared(selection) ? 0 : std::size_t{capacity_of(selection)} * selection.lists * sizeof(Key);
}

cudaError_t select_by_guess(const Queue& queue, const Selection& rows, Key* scratch) {
  const std::uint32_t capacity = capacity_of_guess(rows), lists = lists_of(rows);
  Key* const bounds = scratch + std::size_t{lists} * capacity;
  const Passed passed{scratch, bounds, reinterpret_cast<std::uint32_t*>(bounds + lists), capacity};
  const bool shared = fits_shared(rows);
  cudaError_t error = shared ? launch(queue, guess_in_shared, lists, slice_threads,
                                      sample_capacity * sizeof(Key), rows, passed, sample_capacity)
                             : launch(queue, guess_in_scratch, lists, scratch_threads, 0, rows, passed);
  // Up to 3 columns of a slice may be in front of the list.
  const std::uint32_t slices = divide_up(width_of(rows), slice_columns - 3);
  if (error == cudaSuccess)
    error =
        launch(queue, filter_slices, std::uint64_t{lists} * slices, slice_threads, 0, rows, passed, slices);
  if (error != cudaSuccess) return error;
  if (!shared) return launch(queue, finish_in_scratch, lists, scratch_threads, 0, rows, passed);
  const auto finish = capacity == 8 * sort_threads    ? finish_in_shared<4>
                      : capacity == 16 * sort_threads ? finish_in_shared<8>
                                                      : finish_in_shared<16>;
  static_assert(threshold_max_k == 8 * sort_threads);
  return launch(queue, finish, lists, sort_threads, (capacity + 1) * sizeof(Key), rows, passed);
}

cudaError_t select_rows(const Queue& queue, const Selection& rows, void* scratch) {
  // Chips of compute capability 7.5 have 64 KiB of shared memory, which the longest lists exceed.
  const std::size_t wanted = fits_shared(rows) ? (capacity_of_guess(rows) + 8) * sizeof(Key) : 0;
  if (guesses(rows) && wanted <= queue.shared_bytes)
    return select_by_guess(queue, rows, static_cast<Key*>(scratch));
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
