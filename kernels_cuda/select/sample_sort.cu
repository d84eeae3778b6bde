// Sorts all keys of a list by one partition: a sample of the keys gives borders, each key goes into the
// bucket between two borders, and a warp sorts a bucket.
//
//   slots     [lists, buckets, room]    keys of each bucket, in any order
//   spilled   [lists, width]            keys for which their bucket had no room, in any order
//   too_long  [lists, width]            keys of buckets that are longer than shared memory, at their places
//   borders   [lists, buckets]          keys of the sample, ascending; a bucket ends before its border
//   counts    [lists, buckets, spread]  keys of each bucket, in the first: atomics on a line are in turn
//   spills    [lists]                   number of spilled keys
//
// Keys of a list differ, since they hold their rows: equal distances fill no bucket. Many keys spill only
// where the sample misleads; then the sort is slow, but right.
// Work: three launches; a value is read once, a key written twice and read once; a bucket of n keys takes
// n / 4 log2(n) (log2(n) + 1) comparisons, in the registers of a warp.
// Source: Frazer, McKellar, Samplesort, 1970; Leischner, Osipov, Sanders, GPU sample sort, 2010.
#include "select/sample_sort.cuh"

#include "common/sort.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t mean_of_bucket = 128, room = 512, in_shared_memory = 2048;  // keys of a bucket
constexpr std::uint32_t oversampled = 2;  // keys of the sample for each bucket
constexpr std::uint32_t ranked = 32;      // keys of the sample for each block
constexpr std::uint32_t most_buckets = sample_sort_most / mean_of_bucket;
constexpr std::uint32_t threads = 256, warps = threads / 32;
constexpr std::uint32_t many_threads = 1024;  // of blocks that all read the sample or the borders
constexpr std::uint32_t keys_a_thread = 2;
constexpr std::uint32_t spread = 8;  // counters are a sector apart

struct SampleSort {
  Selection selection;
  std::uint32_t first_list, width, buckets;
  Key *slots, *spilled, *too_long, *borders;
  std::uint32_t *counts, *spills;
};

/// What a block does: part `x` of the work of a list, of which each has `blocks` blocks.
struct Turn {
  std::uint32_t x, buckets;
  Part part;
  Key *slots, *spilled, *too_long, *borders;
  std::uint32_t *counts, *spills;

  __device__ Turn(const SampleSort& sort, std::uint32_t blocks)
      : x(blockIdx.x % blocks),
        buckets(sort.buckets),
        part(part_of(sort.selection, sort.first_list + blockIdx.x / blocks)) {
    const std::size_t list = blockIdx.x / blocks;
    slots = sort.slots + list * buckets * room;
    spilled = sort.spilled + list * sort.width;
    too_long = sort.too_long + list * sort.width;
    borders = sort.borders + list * buckets;
    counts = sort.counts + list * buckets * spread;
    spills = sort.spills + list;
  }
};

std::uint32_t buckets_of(std::uint32_t width) {
  return divide_up(width, mean_of_bucket);
}

/// Returns where key i of a sample of `size` keys lies: anywhere in the i-th of equal runs of the list.
__device__ std::uint32_t sampled_place(std::uint32_t i, std::uint32_t size, std::uint32_t count) {
  const std::uint64_t run = (std::uint64_t{count} << 32) / size;
  const auto begin = static_cast<std::uint32_t>(i * run >> 32),
             end = static_cast<std::uint32_t>((i + 1) * run >> 32);
  return begin + __umulhi(i * 2654435761u, end - begin);
}

/// Returns the rank of a key of the sample among fours begin ... end - 1: of equal values, the row of an
/// earlier one is less.
///   own   the place of its value in the sample
///   mine  first of the ranked / 4 fours that this block ranks
__device__ std::uint32_t rank_among(const std::uint32_t* values, std::uint32_t begin, std::uint32_t end,
                                    std::uint32_t own, std::uint32_t mine, std::uint32_t value) {
  const auto* const fours = reinterpret_cast<const uint4*>(values);
  std::uint32_t rank = 0;
#pragma unroll 4
  for (std::uint32_t f = begin; f < min(end, mine); ++f) {
    const uint4 four = fours[f];
    rank += (four.x <= value) + (four.y <= value) + (four.z <= value) + (four.w <= value);
  }
  for (std::uint32_t i = 4 * max(begin, mine); i < 4 * min(end, mine + ranked / 4); ++i)
    rank += values[i] < value || (values[i] == value && i < own);
#pragma unroll 4
  for (std::uint32_t f = max(begin, mine + ranked / 4); f < end; ++f) {
    const uint4 four = fours[f];
    rank += (four.x < value) + (four.y < value) + (four.z < value) + (four.w < value);
  }
  return rank;
}

/// Ranks the sample, and stores each `oversampled`-th key in order. All blocks read the sample; a block ranks
/// `ranked` of its keys, each by many_threads / ranked threads; a warp shares the values it compares with.
__global__ __launch_bounds__(many_threads) void choose_borders(const SampleSort sort,
                                                               const std::uint32_t blocks) {
  __shared__ alignas(sizeof(uint4)) std::uint32_t values[most_buckets * oversampled];
  __shared__ std::uint32_t ranks[ranked];
  take_turn();
  const Turn turn(sort, blocks);
  const Part& part = turn.part;
  const std::uint32_t bucket = turn.x * (ranked / oversampled) + threadIdx.x;
  if (threadIdx.x < ranked / oversampled && bucket < turn.buckets) turn.counts[bucket * spread] = 0;
  if (turn.x == 0 && threadIdx.x == 0) *turn.spills = 0;
  if (part.count == 0) return;
  const std::uint32_t size = turn.buckets * oversampled, all = divide_up(size, 4u);
#pragma unroll 4
  for (std::uint32_t i = threadIdx.x; i < 4 * all; i += many_threads)
    values[i] = i < size ? ordered_bits(part.values[sampled_place(i, size, part.count)]) : 0xFFFFFFFFu;
  if (threadIdx.x < ranked) ranks[threadIdx.x] = 0;
  __syncthreads();
  const std::uint32_t own = turn.x * ranked + threadIdx.x % ranked;
  const std::uint32_t each = divide_up(all, many_threads / ranked), begin = threadIdx.x / ranked * each;
  if (own < size)
    atomicAdd(ranks + threadIdx.x % ranked,
              rank_among(values, begin, min(begin + each, all), own, turn.x * (ranked / 4), values[own]));
  __syncthreads();
  if (threadIdx.x < ranked && own < size && ranks[threadIdx.x] % oversampled == oversampled - 1)
    turn.borders[ranks[threadIdx.x] / oversampled] = part.key(sampled_place(own, size, part.count));
}

/// Borders as a search tree: the children of node i are 2 i and 2 i + 1, so that the keys of a level, which
/// the threads of a warp read together, are neighbours. There are a power of two of them; those behind the
/// last are no_key.
__device__ void plant(Key* tree, const Key* borders, std::uint32_t buckets, std::uint32_t leaves) {
#pragma unroll 4
  for (std::uint32_t node = threadIdx.x; node < leaves; node += many_threads) {
    if (node == 0) continue;
    const std::uint32_t level = 31 - __clz(node), span = leaves >> level;
    const std::uint32_t border = (node - (1u << level)) * span + span / 2 - 1;
    tree[node] = border < buckets - 1 ? borders[border] : no_key;
  }
  __syncthreads();
}

/// Returns the bucket of a key: the number of borders that are not above it.
__device__ std::uint32_t bucket_of(Key key, const Key* tree, std::uint32_t leaves) {
  std::uint32_t node = 1;
  while (node < leaves) node = 2 * node + (tree[node] <= key ? 1 : 0);
  return node - leaves;
}

/// Puts each key into its bucket.
__global__ __launch_bounds__(many_threads) void fill_buckets(const SampleSort sort,
                                                             const std::uint32_t blocks) {
  __shared__ Key tree[most_buckets];
  take_turn();
  const Turn turn(sort, blocks);
  const Part& part = turn.part;
  if (part.count == 0) return;
  const std::uint32_t leaves = power_of_two(turn.buckets);
  const std::uint32_t first = turn.x * many_threads * keys_a_thread + threadIdx.x;
  Key keys[keys_a_thread];
#pragma unroll
  for (std::uint32_t e = 0; e < keys_a_thread; ++e) keys[e] = part.key(first + e * many_threads);
  plant(tree, turn.borders, turn.buckets, leaves);
  std::uint32_t buckets[keys_a_thread], places[keys_a_thread];
#pragma unroll
  for (std::uint32_t e = 0; e < keys_a_thread; ++e) buckets[e] = bucket_of(keys[e], tree, leaves);
#pragma unroll
  for (std::uint32_t e = 0; e < keys_a_thread; ++e)
    places[e] = keys[e] != no_key ? atomicAdd(turn.counts + buckets[e] * spread, 1u) : 0;
#pragma unroll
  for (std::uint32_t e = 0; e < keys_a_thread; ++e) {
    if (keys[e] == no_key) continue;
    if (places[e] < room)
      turn.slots[std::size_t{buckets[e]} * room + places[e]] = keys[e];
    else
      turn.spilled[atomicAdd(turn.spills, 1u)] = keys[e];
  }
}

/// A bucket: where it begins in its list, how many keys it has (0: none of them are wanted), and how many are
/// wanted.
struct Bucket {
  std::uint32_t begin, count, wanted;
};

/// Finds the buckets of a block, one for each warp.
__device__ void find_buckets(Bucket* found, const Turn& turn, std::uint32_t first, std::uint32_t k) {
  __shared__ std::uint32_t before, counts[warps];
  if (threadIdx.x == 0) before = 0;
  if (threadIdx.x < warps)
    counts[threadIdx.x] =
        first + threadIdx.x < turn.buckets ? turn.counts[(first + threadIdx.x) * spread] : 0;
  std::uint32_t sum = 0;
#pragma unroll 8
  for (std::uint32_t b = threadIdx.x; b < first; b += threads) sum += turn.counts[b * spread];
  __syncthreads();
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, step);
  if (threadIdx.x % 32 == 0) atomicAdd(&before, sum);
  __syncthreads();
  if (threadIdx.x < warps) {
    std::uint32_t begin = before;
    for (std::uint32_t b = 0; b < threadIdx.x; ++b) begin += counts[b];
    const std::uint32_t count = begin < k ? counts[threadIdx.x] : 0;
    found[threadIdx.x] = {begin, count, min(count, k - min(begin, k))};
  }
  __syncthreads();
}

/// Sorts a bucket of up to 32 * each keys by a warp.
template <int each>
__device__ void sort_by_warp(const Bucket& bucket, const Key* keys, Key* slots, Key* out) {
  const std::uint32_t lane = threadIdx.x % 32;
  Key key[each];
#pragma unroll
  for (std::uint32_t e = 0; e < each; ++e)
    key[e] = e * 32 + lane < bucket.count ? keys[e * 32 + lane] : no_key;
  sort_warp_once(key, lane);
  store_warp(key, slots, lane, out + bucket.begin, bucket.wanted);
}

/// Sorts any number of keys in global memory by a block: bitonic, in the form that mirrors the first step of
/// each merge, as if there were largest keys behind them.
__device__ void sort_in_place(Key* keys, std::uint32_t count) {
  const std::uint32_t pairs = power_of_two(count) / 2;
  for (std::uint32_t width = 2; width <= 2 * pairs; width *= 2)
    for (std::uint32_t step = width / 2; step > 0; step /= 2) {
      for (std::uint32_t i = threadIdx.x; i < pairs; i += threads) {
        const std::uint32_t low = 2 * i - (i & (step - 1));
        const std::uint32_t high = step == width / 2 ? low ^ (width - 1) : low + step;
        if (high < count) exchange(keys[low], keys[high]);
      }
      __syncthreads();
    }
}

/// Sorts bucket b, of more than `room` keys, by a block. All but `room` of them are among the spilled keys.
__device__ void sort_long(const Turn& turn, std::uint32_t b, const Bucket& bucket, Key* keys) {
  __shared__ std::uint32_t taken;
  const std::uint32_t spills = *turn.spills;
  const bool in_shared = bucket.count <= in_shared_memory;
  const Key low = b > 0 ? turn.borders[b - 1] : 0, high = b + 1 < turn.buckets ? turn.borders[b] : no_key;
  Key* const here = in_shared ? keys : turn.too_long + bucket.begin;
  if (threadIdx.x == 0) taken = room;
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < room + spills; i += threads) {
    const Key key = i < room ? turn.slots[std::size_t{b} * room + i] : turn.spilled[i - room];
    if (key >= low && key < high) here[i < room ? i : atomicAdd(&taken, 1u)] = key;
  }
  __syncthreads();
  if (in_shared) {
    const std::uint32_t length = power_of_two(bucket.count);
    for (std::uint32_t i = bucket.count + threadIdx.x; i < length; i += threads) keys[i] = no_key;
    sort_lists(keys, 1, length, length);
  } else {
    sort_in_place(here, bucket.count);
  }
  for (std::uint32_t i = threadIdx.x; i < bucket.wanted; i += threads)
    turn.part.out[bucket.begin + i] = here[i];
  __syncthreads();
}

/// Sorts the keys of each bucket, and writes those that are among the k first of their list. A warp sorts a
/// bucket in registers; the block sorts those that are too long for one, one after another.
__global__ __launch_bounds__(threads, 3) void sort_buckets(const SampleSort sort,
                                                           const std::uint32_t blocks) {
  __shared__ Key keys[warps * store_keys<room / 32>];
  __shared__ Bucket found[warps];
  take_turn();
  const Turn turn(sort, blocks);
  const std::uint32_t k = sort.selection.k, warp = threadIdx.x / 32, first = turn.x * warps;
  for (std::uint64_t j = std::uint64_t{turn.part.count} + turn.x * threads + threadIdx.x; j < k;
       j += std::uint64_t{blocks} * threads)
    turn.part.out[j] = no_key;
  find_buckets(found, turn, first, k);
  const Bucket mine = found[warp];
  const Key* const in = turn.slots + std::size_t{first + warp} * room;
  Key* const slots = keys + warp * store_keys<room / 32>;
  if (mine.count <= room / 4)
    sort_by_warp<room / 128>(mine, in, slots, turn.part.out);
  else if (mine.count <= room / 2)
    sort_by_warp<room / 64>(mine, in, slots, turn.part.out);
  else if (mine.count <= room)
    sort_by_warp<room / 32>(mine, in, slots, turn.part.out);
  if (__syncthreads_or(mine.count > room) == 0) return;
  for (std::uint32_t w = 0; w < warps; ++w)
    if (found[w].count > room) sort_long(turn, first + w, found[w], keys);
}

constexpr std::size_t aligned(std::size_t bytes) {
  return divide_up<std::size_t>(bytes, 256) * 256;
}

/// Sets the addresses of a sort, one after another from `memory` on, and returns the bytes they take.
std::size_t lay_out(SampleSort& sort, std::uint32_t lists, void* memory) {
  std::size_t bytes = 0;
  const auto take = [&](auto*& address, std::size_t count) {
    address = reinterpret_cast<std::remove_reference_t<decltype(address)>>(
        static_cast<unsigned char*>(memory) + bytes);
    bytes += aligned(count * sizeof(*address));
  };
  const std::size_t buckets = std::size_t{lists} * sort.buckets, keys = std::size_t{lists} * sort.width;
  take(sort.slots, buckets * room);
  take(sort.spilled, keys);
  take(sort.too_long, keys);
  take(sort.borders, buckets);
  take(sort.counts, buckets * spread);
  take(sort.spills, lists);
  return bytes;
}

}  // namespace

std::size_t sample_sort_bytes(std::uint32_t lists, std::uint32_t width) {
  SampleSort sort{};
  sort.width = width;
  sort.buckets = buckets_of(width);
  return lay_out(sort, lists, nullptr);
}

cudaError_t sample_sort(const Queue& queue, const Selection& selection, std::uint32_t first_list,
                        std::uint32_t lists, void* memory) {
  SampleSort sort{};
  sort.selection = selection;
  sort.first_list = first_list;
  sort.width = width_of(selection);
  sort.buckets = buckets_of(sort.width);
  lay_out(sort, lists, memory);
  const auto launch_all = [&](auto kernel, std::uint32_t blocks, std::uint32_t of_block) {
    return launch_in_turn(queue, kernel, std::uint64_t{blocks} * lists, of_block, 0, sort, blocks);
  };
  cudaError_t error = launch_all(choose_borders, divide_up(sort.buckets * oversampled, ranked), many_threads);
  if (error == cudaSuccess)
    error = launch_all(fill_buckets, divide_up(sort.width, many_threads * keys_a_thread), many_threads);
  if (error == cudaSuccess) error = launch_all(sort_buckets, divide_up(sort.buckets, warps), threads);
  return error;
}

}  // namespace kith::cuda
