// select, radix: any k, in one of two ways.
//
//   distances [q, t]            NaN only if masked
//   out       [q, lists * k]    keys, ascending in each list, padded with no_key
//
// If few keys are wanted from many values, in many parts, a block handles a part: it finds the k-th key digit
// by digit (radix_choose), and only the k chosen keys of each part are sorted, by all 64 bits. Otherwise, all
// values of as many rows as scratch allows are sorted: parts of 8,192 to 262,144 values by one partition each
// (sample_sort.cu). Others become keys, and every part is sorted, only by the 32 bits of its values, because
// the sort is stable and rows are in order, and cut_lists ends it. The other sorts are those of CUB (part of
// the CUDA toolkit): one sort for the whole device if parts are few, one block per part if there are many.
// Work: the first way reads each distance 2 to 7 times; CUB makes 5 passes over 8 bytes per distance. Source:
// Alabi and others 2012 (radix select); Merrill, Grimshaw 2011 and Adinets, Merrill 2022 (radix sort).
#include "common/part.cuh"
#include "common/radix_sort.cuh"
#include "select/sample_sort.cuh"
#include "select/selectors.hpp"

namespace kith::cuda {
namespace radix {
namespace {

constexpr std::uint32_t threads = 512;
constexpr std::uint32_t digits = 2048;  // 11 bits

/// The digits of a key, highest first: the 32 bits of the value, then, for equal values, those of the row.
struct Digit {
  std::uint32_t shift, size;
};
__device__ constexpr Digit digit_of_pass[] = {{53, 2048}, {42, 2048}, {32, 1024},
                                              {21, 2048}, {10, 2048}, {0, 1024}};

/// What a block knows of the k-th key so far, in shared memory.
struct Choice {
  std::uint32_t histogram[digits];
  std::uint32_t digit;      // digit of the k-th key
  std::uint32_t remaining;  // rank of the k-th key among keys with its digits so far, from 1
  std::uint32_t equal;      // number of keys that have these digits
};

/// Finds the digit of the key with rank `remaining`. The first warp calls this.
__device__ void find_digit(Choice& choice, std::uint32_t remaining) {
  constexpr std::uint32_t a_lane = digits / 32;
  const std::uint32_t lane = threadIdx.x;
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < a_lane; ++i) sum += choice.histogram[lane * a_lane + (i + lane) % a_lane];
  std::uint32_t up_to = sum;  // sum of this lane and those before it
#pragma unroll
  for (std::uint32_t step = 1; step < 32; step *= 2) {
    const std::uint32_t other = __shfl_up_sync(0xFFFFFFFFu, up_to, step);
    if (lane >= step) up_to += other;
  }
  std::uint32_t before = up_to - sum;
  if (before >= remaining || up_to < remaining) return;
  std::uint32_t d = lane * a_lane;
  while (before + choice.histogram[d] < remaining) before += choice.histogram[d++];
  choice.digit = d;
  choice.remaining = remaining - before;
  choice.equal = choice.histogram[d];
}

/// Block b writes the min(k, width) smallest keys of part b to chosen[b], in any order, and pads. Work: each
/// distance is read twice, and once more for every digit that does not decide it.
__global__ __launch_bounds__(threads) void radix_choose(const Selection selection, Key* chosen) {
  __shared__ Choice choice;
  __shared__ std::uint32_t count;
  const std::uint32_t q = blockIdx.x / selection.lists, g = blockIdx.x % selection.lists, k = selection.k;
  const Columns columns = columns_of(g, selection.lists, selection.columns);
  const float* row = selection.distances.data + q * selection.distances.stride;
  const auto key_at = [&](std::uint64_t c) {
    return key_of(row[c], selection.first_row + static_cast<std::uint32_t>(c));
  };
  Key prefix = 0, mask = 0;
  std::uint32_t remaining = k;
  const bool all = columns.end - columns.begin <= k;
  for (int pass = 0; pass < 6 && !all; ++pass) {
    const Digit digit = digit_of_pass[pass];
    for (std::uint32_t i = threadIdx.x; i < digits; i += threads) choice.histogram[i] = 0;
    __syncthreads();
#pragma unroll 4
    for (std::uint64_t c = std::uint64_t{columns.begin} + threadIdx.x; c < columns.end; c += threads) {
      const Key key = key_at(c);
      if ((key & mask) == prefix)
        atomicAdd(&choice.histogram[static_cast<std::uint32_t>(key >> digit.shift) & (digit.size - 1)], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 32) find_digit(choice, remaining);
    __syncthreads();
    prefix |= static_cast<Key>(choice.digit) << digit.shift;
    mask |= static_cast<Key>(digit.size - 1) << digit.shift;
    remaining = choice.remaining;
    if (choice.equal == remaining) break;  // all keys that share these digits are wanted
    __syncthreads();
  }
  const Key largest = all ? no_key : prefix | ~mask;

  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  Key* list = chosen + std::size_t{blockIdx.x} * k;
#pragma unroll 4
  for (std::uint64_t c = std::uint64_t{columns.begin} + threadIdx.x; c < columns.end; c += threads) {
    const Key key = key_at(c);
    if (key <= largest) list[atomicAdd(&count, 1u)] = key;
  }
  __syncthreads();
  for (std::uint32_t j = count + threadIdx.x; j < k; j += threads) list[j] = no_key;
}

/// One thread makes the key of one distance.
__global__ __launch_bounds__(threads) void make_keys(const Selection selection, const std::uint32_t first,
                                                     const std::uint64_t all, Key* keys) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= all) return;
  const std::uint64_t q = first + i / selection.columns;
  const auto c = static_cast<std::uint32_t>(i % selection.columns);
  keys[i] = key_of(selection.distances.data[q * selection.distances.stride + c], selection.first_row + c);
}

/// The layout of sorted parts: sorted[row * pitch + begin of the part].
struct Parts {
  std::uint32_t columns;  // columns of a row, cut into lists; 0: every part has k keys
  std::uint32_t lists;
  std::uint32_t k;
};
__global__ __launch_bounds__(threads) void cut_lists(const Key* sorted, const Parts parts,
                                                     const std::uint64_t all, const Matrix<Key> out) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= all) return;
  const std::uint64_t list = i / parts.k, q = list / parts.lists;
  const auto g = static_cast<std::uint32_t>(list % parts.lists), j = static_cast<std::uint32_t>(i % parts.k);
  Key key = no_key;
  if (parts.columns == 0) {
    key = sorted[i];
  } else {
    const Columns columns = columns_of(g, parts.lists, parts.columns);
    if (j < columns.end - columns.begin) key = sorted[q * parts.columns + columns.begin + j];
  }
  out.data[q * out.stride + std::uint64_t{g} * parts.k + j] = key;
}

/// Returns whether few keys are wanted from many values, in enough parts to fill the GPU.
bool chooses(const Selection& selection) {
  return std::uint64_t{selection.rows} * selection.lists >= 64 &&
         selection.k <= divide_up(selection.columns, selection.lists) / 4;
}

SortShape chosen_shape(const Selection& selection) {
  return {selection.rows * selection.lists, selection.k, 1, selection.k};
}
SortShape whole_shape(const Selection& selection, std::uint32_t rows) {
  return {rows * selection.lists, selection.columns, selection.lists,
          divide_up(selection.columns, selection.lists)};
}

/// Returns whether the lists are sorted by one partition each.
bool is_partitioned(const Selection& selection) {
  const std::uint32_t width = width_of(selection);
  return width >= sample_sort_least && width <= sample_sort_most;
}

/// Returns how many rows the second way takes in a round, for at most `keys` keys; at least one row.
std::uint32_t rows_a_round(const Selection& selection, std::size_t keys) {
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(keys / selection.columns, 1, selection.rows));
}

constexpr std::size_t round_keys = std::size_t{1} << 25;
constexpr std::size_t partition_bytes = std::size_t{1} << 28;  // of a round

/// Returns how many lists are sorted at once by partitions, with so much scratch; 0 if that is too little.
std::uint32_t lists_at_once(const Selection& selection, std::size_t bytes) {
  const std::size_t a_list = sample_sort_bytes(1, width_of(selection));
  return static_cast<std::uint32_t>(std::min<std::size_t>(lists_of(selection), bytes / a_list));
}

cudaError_t choose_and_sort(const Queue& queue, const Selection& selection, const spi::Scratch& scratch) {
  const SortShape shape = chosen_shape(selection);
  const SortMemory memory(shape, scratch);
  const std::uint64_t all = shape.keys();
  cudaError_t error = launch(queue, radix_choose, shape.parts, threads, 0, selection, memory.keys);
  if (error == cudaSuccess) error = sort_parts(queue, shape, memory, 0);
  if (error != cudaSuccess) return error;
  return launch(queue, cut_lists, divide_up<std::uint64_t>(all, threads), threads, 0, memory.sorted,
                Parts{0, selection.lists, selection.k}, all, selection.out);
}

/// Sorts each list by one partition.
cudaError_t partition_whole(const Queue& queue, const Selection& selection, const spi::Scratch& scratch) {
  const std::uint32_t all = lists_of(selection), round = lists_at_once(selection, scratch.bytes);
  cudaError_t error = cudaSuccess;
  for (std::uint32_t first = 0; first < all && error == cudaSuccess; first += round)
    error = sample_sort(queue, selection, first, std::min(round, all - first), address_of<void>(scratch));
  return error;
}

/// Returns the scratch to sort `rows` rows whole. A step has the scratch of one that is wider, so a partition
/// asks for what CUB takes of shorter parts, too.
std::size_t bytes_of_whole(const Selection& selection, std::uint32_t rows) {
  if (!is_partitioned(selection)) return sort_bytes(whole_shape(selection, rows));
  Selection some = selection, shorter = selection;
  some.rows = rows;
  shorter.columns = selection.lists * (sample_sort_least - 1);
  const std::uint32_t lists = std::max(1u, lists_at_once(some, partition_bytes));
  return std::max(lists * sample_sort_bytes(1, width_of(selection)), sort_bytes(whole_shape(shorter, 1)));
}

cudaError_t sort_whole(const Queue& queue, const Selection& selection, const spi::Scratch& scratch) {
  if (is_partitioned(selection) && lists_at_once(selection, scratch.bytes) > 0)
    return partition_whole(queue, selection, scratch);
  std::uint32_t round = rows_a_round(selection, round_keys);
  const auto bytes_of = [&](std::uint32_t rows) { return sort_bytes(whole_shape(selection, rows)); };
  while (round > 1 && bytes_of(round) > scratch.bytes) round = (round + 1) / 2;
  if (bytes_of(round) > scratch.bytes) return cudaErrorInvalidValue;
  for (std::uint32_t first = 0; first < selection.rows; first += round) {
    const std::uint32_t rows = std::min(round, selection.rows - first);
    const SortShape shape = whole_shape(selection, rows);
    const SortMemory memory(shape, scratch);
    const std::uint64_t all = shape.keys(), wanted = std::uint64_t{shape.parts} * selection.k;
    cudaError_t error = launch(queue, make_keys, divide_up<std::uint64_t>(all, threads), threads, 0,
                               selection, first, all, memory.keys);
    if (error == cudaSuccess) error = sort_parts(queue, shape, memory, 32);
    const Matrix<Key> out{selection.out.data + first * selection.out.stride, selection.out.stride};
    if (error == cudaSuccess)
      error = launch(queue, cut_lists, divide_up<std::uint64_t>(wanted, threads), threads, 0, memory.sorted,
                     Parts{selection.columns, selection.lists, selection.k}, wanted, out);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

std::size_t scratch_of(const spi::SelectStep& step) {
  const Selection selection = selection_of(step);
  // A round with fewer rows may go the other way, one row at a time.
  if (chooses(selection)) return std::max(sort_bytes(chosen_shape(selection)), bytes_of_whole(selection, 1));
  return bytes_of_whole(selection, rows_a_round(selection, round_keys));
}

cudaError_t select(const Queue& queue, const spi::SelectStep& step) {
  const Selection selection = selection_of(step);
  if (chooses(selection) && sort_bytes(chosen_shape(selection)) <= step.scratch.bytes)
    return choose_and_sort(queue, selection, step.scratch);
  return sort_whole(queue, selection, step.scratch);
}

}  // namespace
}  // namespace radix

const SelectorKernels radix_selector{Selector::radix, radix::scratch_of, radix::select};

}  // namespace kith::cuda
