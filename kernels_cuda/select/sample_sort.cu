// Sorts all keys of a list by one partition: a sample of the keys gives borders, each key goes into the
// bucket between two borders, and a warp sorts a bucket.
//
//   borders  [lists, buckets]      keys of the sample, ascending; a bucket ends before its border
//   counts   [lists, buckets, 8]   keys of each bucket, in the first of eight: atomics on a line are in turn
//   begins   [lists, buckets + 1]  the places of keys at which buckets begin
//   places   [lists, width]        of each value: its bucket, and its place there
//   keys     [lists, width]        keys, ordered by bucket
//
// Keys of a list differ, since they hold their rows: equal distances fill no bucket. A bucket that is longer
// than shared memory, which only a misleading sample makes, is sorted slowly, but right.
// Work: four launches; a value is read three times, a key written twice and read once; a bucket of n keys
// takes n / 4 log2(n) (log2(n) + 1) comparisons, in the registers of a warp.
// No twin in kernels_cl: there select_radix.cl uses sort.cl.
// Source: Frazer, McKellar, Samplesort, 1970; Leischner, Osipov, Sanders, GPU sample sort, 2010.
#include "select/sample_sort.cuh"

#include "common/sort.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t mean_of_bucket = 128;  // keys
constexpr std::uint32_t oversampled = 2;       // keys of the sample for each bucket
constexpr std::uint32_t most_buckets = sample_sort_most / mean_of_bucket;
constexpr std::uint32_t threads = 256, ranking_threads = 1024;
constexpr std::uint32_t spread = 8;                                      // counters are a sector apart
constexpr std::uint32_t longest_of_warp = 512, in_shared_memory = 2048;  // keys of a bucket
constexpr std::uint32_t place_bits = 18;

static_assert(sample_sort_most <= 1u << place_bits && most_buckets <= 1u << (32 - place_bits) &&
              most_buckets % threads == 0);

struct SampleSort {
  Selection selection;
  std::uint32_t first_list, width, buckets;
  Key *borders, *keys;
  std::uint32_t *counts, *begins, *places;
  std::uint32_t* counted;  ///< [lists]  blocks that have counted their keys
};

/// What a block does: part `x` of the work of list `list`, of which each has `blocks` blocks.
struct Turn {
  std::uint32_t list, x;
  Part part;

  __device__ Turn(const SampleSort& sort, std::uint32_t blocks)
      : list(blockIdx.x / blocks),
        x(blockIdx.x % blocks),
        part(part_of(sort.selection, sort.first_list + list)) {}
};

std::uint32_t buckets_of(std::uint32_t width) {
  return divide_up(width, mean_of_bucket);
}

/// Where the keys of a sample lie: key i is anywhere in the i-th of equal runs of the list.
struct Sample {
  std::uint32_t size;
  std::uint64_t run;  ///< keys of a run, times 2^32

  __device__ Sample(std::uint32_t of, std::uint32_t count)
      : size(of), run((std::uint64_t{count} << 32) / of) {}
  __device__ std::uint32_t place(std::uint32_t i) const {
    const auto begin = static_cast<std::uint32_t>(i * run >> 32),
               end = static_cast<std::uint32_t>((i + 1) * run >> 32);
    return begin + __umulhi(i * 2654435761u, end - begin);
  }
};

/// Ranks the sample, and stores each `oversampled`-th key in order. All blocks read the sample; a warp ranks
/// one of its keys.
__global__ __launch_bounds__(ranking_threads) void choose_borders(const SampleSort sort,
                                                                  const std::uint32_t blocks) {
  __shared__ std::uint32_t values[most_buckets * oversampled];
  take_turn();
  const Turn turn(sort, blocks);
  const Part& part = turn.part;
  const std::size_t list = turn.list;
  if (turn.x == 0)
    for (std::uint32_t b = threadIdx.x; b < sort.buckets; b += ranking_threads)
      sort.counts[(list * sort.buckets + b) * spread] = 0;
  if (turn.x == 0 && threadIdx.x == 0) sort.counted[list] = 0;
  if (part.count == 0) return;
  const Sample sample(sort.buckets * oversampled, part.count);
#pragma unroll 4
  for (std::uint32_t i = threadIdx.x; i < sample.size; i += ranking_threads)
    values[i] = ordered_bits(part.values[sample.place(i)]);
  __syncthreads();
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t mine = turn.x * (ranking_threads / 32) + threadIdx.x / 32;
  if (mine >= sample.size) return;
  const std::uint32_t value = values[mine];
  std::uint32_t rank = 0;
#pragma unroll 8
  for (std::uint32_t i = lane; i < mine; i += 32)
    rank += values[i] <= value;  // the row of an equal one is less
#pragma unroll 8
  for (std::uint32_t i = mine + 1 + lane; i < sample.size; i += 32) rank += values[i] < value;
  for (int step = 16; step > 0; step /= 2) rank += __shfl_xor_sync(0xFFFFFFFFu, rank, step);
  if (lane == 0 && rank % oversampled == oversampled - 1)
    sort.borders[list * sort.buckets + rank / oversampled] = part.key(sample.place(mine));
}

/// Borders as a search tree: the children of node i are 2 i and 2 i + 1, so that the keys of a level, which
/// the threads of a warp read together, are neighbours. There are a power of two of them; those behind the
/// last are no_key.
__device__ void plant(Key* tree, const Key* borders, std::uint32_t buckets, std::uint32_t leaves) {
  for (std::uint32_t node = threadIdx.x; node < leaves; node += threads) {
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

/// Makes of the counts of a list the places at which its buckets begin. A block does it.
__device__ void sum_counts(const std::uint32_t* counts, std::uint32_t buckets, std::uint32_t* begins) {
  __shared__ std::uint32_t of_warps[threads / 32];
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint32_t each = divide_up(buckets, threads), first = threadIdx.x * each;
  std::uint32_t own[most_buckets / threads], sum = 0;
#pragma unroll
  for (std::uint32_t i = 0; i < most_buckets / threads; ++i) {
    own[i] = i < each && first + i < buckets ? __ldcg(counts + std::size_t{first + i} * spread) : 0;
    sum += own[i];
  }
  std::uint32_t up_to = sum;
#pragma unroll
  for (std::uint32_t step = 1; step < 32; step *= 2) {
    const std::uint32_t other = __shfl_up_sync(0xFFFFFFFFu, up_to, step);
    if (lane >= step) up_to += other;
  }
  if (lane == 31) of_warps[warp] = up_to;
  __syncthreads();
  std::uint32_t begin = up_to - sum;
  for (std::uint32_t w = 0; w < warp; ++w) begin += of_warps[w];
#pragma unroll
  for (std::uint32_t i = 0; i < most_buckets / threads; ++i) {
    if (i < each && first + i <= buckets) begins[first + i] = begin;
    begin += own[i];
  }
  if (threadIdx.x == threads - 1) begins[buckets] = begin;
}

/// Finds the bucket of each key, and its place there: the keys that came before it, in any order. The last
/// block of a list makes the begins of its buckets.
__global__ __launch_bounds__(threads) void count_keys(const SampleSort sort, const std::uint32_t blocks) {
  __shared__ Key tree[most_buckets];
  __shared__ bool is_last;
  take_turn();
  const Turn turn(sort, blocks);
  const Part& part = turn.part;
  const std::size_t list = turn.list;
  const std::uint32_t leaves = power_of_two(sort.buckets);
  plant(tree, sort.borders + list * sort.buckets, sort.buckets, leaves);
  std::uint32_t* const counts = sort.counts + list * sort.buckets * spread;
  const std::uint32_t i = turn.x * threads + threadIdx.x;
  if (i < part.count) {
    const std::uint32_t bucket = bucket_of(part.key(i), tree, leaves);
    sort.places[list * sort.width + i] = bucket << place_bits | atomicAdd(counts + bucket * spread, 1u);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    is_last = atomicAdd(sort.counted + list, 1u) == blocks - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  sum_counts(counts, sort.buckets, sort.begins + list * (sort.buckets + 1));
}

/// Writes each key to its bucket.
__global__ __launch_bounds__(threads) void scatter_keys(const SampleSort sort, const std::uint32_t blocks) {
  take_turn();
  const Turn turn(sort, blocks);
  const std::size_t list = turn.list;
  const std::uint32_t i = turn.x * threads + threadIdx.x;
  if (i >= turn.part.count) return;
  const std::uint32_t place = sort.places[list * sort.width + i], bucket = place >> place_bits;
  const std::size_t to = list * sort.width + sort.begins[list * (sort.buckets + 1) + bucket] +
                         (place & ((1u << place_bits) - 1));
  sort.keys[to] = turn.part.key(i);
}

/// A bucket: its keys, and where they are wanted.
struct Bucket {
  const Key* keys;
  std::uint32_t count, wanted;
  Key* out;
};

/// Sorts a bucket of up to 32 * each keys by a warp.
template <int each>
__device__ void sort_by_warp(const Bucket& bucket, Key* slots) {
  const std::uint32_t lane = threadIdx.x % 32;
  Key key[each];
#pragma unroll
  for (std::uint32_t e = 0; e < each; ++e)
    key[e] = e * 32 + lane < bucket.count ? bucket.keys[e * 32 + lane] : no_key;
  sort_warp<each>(key, lane);
  store_warp<each>(key, slots, lane, bucket.out, bucket.wanted);
}

/// Sorts a bucket of any number of keys by a block: in shared memory, if it has up to in_shared_memory keys;
/// else each key is ranked by comparisons with all.
__device__ void sort_by_block(const Bucket& bucket, Key* keys) {
  if (bucket.count > in_shared_memory) {
    for (std::uint32_t i = threadIdx.x; i < bucket.count; i += threads) {
      const Key key = bucket.keys[i];
      std::uint32_t rank = 0;
      for (std::uint32_t j = 0; j < bucket.count; ++j) rank += bucket.keys[j] < key;
      if (rank < bucket.wanted) bucket.out[rank] = key;
    }
    return;
  }
  const std::uint32_t length = power_of_two(bucket.count);
  for (std::uint32_t j = threadIdx.x; j < length; j += threads)
    keys[j] = j < bucket.count ? bucket.keys[j] : no_key;
  sort_lists(keys, 1, length, length);
  for (std::uint32_t j = threadIdx.x; j < bucket.wanted; j += threads) bucket.out[j] = keys[j];
  __syncthreads();
}

/// Sorts the keys of each bucket, and writes those that are among the k first of their list. A warp sorts a
/// bucket in registers; the block sorts those that are too long for one, one after another.
__global__ __launch_bounds__(threads) void sort_buckets(const SampleSort sort, const std::uint32_t blocks) {
  constexpr std::uint32_t warps = threads / 32;
  __shared__ Key keys[warps * store_keys<longest_of_warp / 32>];
  take_turn();
  const Turn turn(sort, blocks);
  const Part& part = turn.part;
  const std::uint32_t k = sort.selection.k;
  for (std::uint32_t j = part.count + turn.x * threads + threadIdx.x; j < k; j += blocks * threads)
    part.out[j] = no_key;
  const auto bucket_of_warp = [&](std::uint32_t warp) -> Bucket {
    const std::uint32_t b = turn.x * warps + warp;
    if (b >= sort.buckets) return {};
    const std::uint32_t* const begins = sort.begins + std::size_t{turn.list} * (sort.buckets + 1) + b;
    const std::uint32_t begin = begins[0], count = begin < k ? begins[1] - begin : 0;
    return {sort.keys + std::size_t{turn.list} * sort.width + begin, count, min(count, k - begin),
            part.out + begin};
  };
  const std::uint32_t warp = threadIdx.x / 32;
  const Bucket mine = bucket_of_warp(warp);
  Key* const slots = keys + warp * store_keys<longest_of_warp / 32>;
  if (mine.count <= longest_of_warp / 2)
    sort_by_warp<longest_of_warp / 64>(mine, slots);
  else if (mine.count <= longest_of_warp)
    sort_by_warp<longest_of_warp / 32>(mine, slots);
  if (__syncthreads_or(mine.count > longest_of_warp) == 0) return;
  for (std::uint32_t w = 0; w < warps; ++w) {
    const Bucket bucket = bucket_of_warp(w);
    if (bucket.count > longest_of_warp) sort_by_block(bucket, keys);
  }
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
  take(sort.keys, keys);
  take(sort.places, keys);
  take(sort.borders, buckets);
  take(sort.counts, buckets * spread);
  take(sort.begins, buckets + lists);
  take(sort.counted, lists);
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
  const auto launch_all = [&](auto kernel, std::uint32_t blocks, std::uint32_t size) {
    return launch_in_turn(queue, kernel, std::uint64_t{blocks} * lists, size, 0, sort, blocks);
  };
  const std::uint32_t of_keys = divide_up(sort.width, threads);
  cudaError_t error = launch_all(choose_borders, divide_up(sort.buckets * oversampled, ranking_threads / 32),
                                 ranking_threads);
  if (error == cudaSuccess) error = launch_all(count_keys, of_keys, threads);
  if (error == cudaSuccess) error = launch_all(scatter_keys, of_keys, threads);
  if (error == cudaSuccess) error = launch_all(sort_buckets, divide_up(sort.buckets, threads / 32), threads);
  return error;
}

}  // namespace kith::cuda
