// tighten by bounds: computes the threshold from the k-th smallest bound of the listed candidates.
//
//   keys       [q, capacity]  bounds; counts [q, 1] say how many each list has
//   threshold  [q, 1]         in and out: it never grows; with fewer than k candidates it does not change
//   lost       [q, 1]         becomes 1 if a count is above the capacity
//   sample     [q, groups]    instead of keys: bounds of rows that are no candidates, as codes
//
// Only the value of the k-th bound is needed, not its row. It is found bit by bit, from the highest bit in
// which any two bounds differ, by counting the bounds below a number. Up to k = 128, or for a sample of up to
// 1024, one warp handles one query, and keeps up to 1024 bounds in registers. For more, or if queries are
// few, one block does: it counts the differences to the least bound by their highest 11 bits in shared
// memory, then those with the digit of the k-th by their next bits, until at most 256 are left; each of these
// is compared with all others. Work of a warp: up to 32 comparisons per bound; of a block: three to five
// steps per bound; the first 8192 bounds are read from memory once. Source: selection by the digits of the
// keys, as in radix.
#include "bound/threshold.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t warp_threads = 128, warps = warp_threads / 32, warp_most_k = 128;
constexpr std::uint32_t block_threads = 256, wide_threads = 1024, most_ranked = 256;
constexpr std::uint32_t digit_bits = 11, digits = 1u << digit_bits, kept_codes = 8192;
constexpr std::uint32_t whole_warp = 0xFFFFFFFFu;

__device__ __forceinline__ std::uint32_t code_of(Key key) {
  return static_cast<std::uint32_t>(key >> 32);
}

__device__ __forceinline__ std::uint32_t sum_of_warp(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(whole_warp, value);
#else
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(whole_warp, value, step);
  return value;
#endif
}

/// The smallest and the largest code that a warp has.
struct Range {
  std::uint32_t least = 0xFFFFFFFFu, most = 0;

  __device__ __forceinline__ void add(std::uint32_t code) {
    least = min(least, code);
    most = max(most, code);
  }
  __device__ __forceinline__ void share() {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
      least = min(least, __shfl_xor_sync(whole_warp, least, step));
      most = max(most, __shfl_xor_sync(whole_warp, most, step));
    }
  }
};

/// Returns the k-th smallest code, which is the largest number that has fewer than k codes below it. If a
/// number has exactly k codes below it, the largest of these is returned at once, which is faster.
///   below    counts the codes below a number, in the whole warp
///   largest  returns the largest code below a number, in the whole warp
template <class Below, class Largest>
__device__ __forceinline__ std::uint32_t kth_code(const Range& range, std::uint32_t k, Below below,
                                                  Largest largest) {
  const std::uint32_t differing = range.least ^ range.most;
  std::uint32_t bit = differing == 0 ? 0 : 1u << (31 - __clz(static_cast<int>(differing)));
  std::uint32_t found = differing == 0 ? range.least : range.least & ~(2 * bit - 1);
  for (; bit != 0; bit /= 2) {
    const std::uint32_t count = below(found | bit);
    if (count == k) return largest(found | bit);
    if (count < k) found |= bit;
  }
  return found;
}

/// Returns the k-th smallest of up to 32 * each codes, which the warp keeps in registers.
///   code_at  returns the code at a place below `count`
template <int each, class CodeAt>
__device__ __forceinline__ std::uint32_t kth_in_registers(CodeAt code_at, std::uint32_t count,
                                                          std::uint32_t k, std::uint32_t lane) {
  std::uint32_t code[each];
  Range range;
#pragma unroll
  for (int i = 0; i < each; ++i) {
    const std::uint32_t at = i * 32 + lane;
    code[i] = at < count ? code_at(at) : 0xFFFFFFFFu;
    if (at < count) range.add(code[i]);
  }
  range.share();
  const auto below = [&](std::uint32_t number) {
    std::uint32_t mine[4] = {};  // four counters, so that additions do not wait for each other
#pragma unroll
    for (int i = 0; i < each; ++i) mine[i % 4] += code[i] < number ? 1 : 0;
    return sum_of_warp((mine[0] + mine[1]) + (mine[2] + mine[3]));
  };
  const auto largest = [&](std::uint32_t number) {
    Range under;
#pragma unroll
    for (int i = 0; i < each; ++i)
      if (code[i] < number) under.add(code[i]);
    under.share();
    return under.most;
  };
  return kth_code(range, k, below, largest);
}

template <class CodeAt>
__device__ __noinline__ std::uint32_t kth_in_memory(CodeAt code_at, std::uint32_t count, std::uint32_t k,
                                                    std::uint32_t lane) {
  Range range;
  for (std::uint32_t at = lane; at < count; at += 32) range.add(code_at(at));
  range.share();
  const auto below = [&](std::uint32_t number) {
    std::uint32_t mine = 0;
    for (std::uint32_t at = lane; at < count; at += 32) mine += code_at(at) < number ? 1 : 0;
    return sum_of_warp(mine);
  };
  const auto largest = [&](std::uint32_t number) {
    Range under;
    for (std::uint32_t at = lane; at < count; at += 32)
      if (code_at(at) < number) under.add(code_at(at));
    under.share();
    return under.most;
  };
  return kth_code(range, k, below, largest);
}

__global__ __launch_bounds__(warp_threads) void tighten_by_warps(const Tightening tightening,
                                                                 const LimitTerms terms) {
  take_turn();
  const std::size_t q = blockIdx.x * warps + threadIdx.x / 32;
  const std::uint32_t lane = threadIdx.x % 32, k = tightening.k;
  if (q >= tightening.rows) return;
  const std::uint32_t all = tightening.counts.data[q * tightening.counts.stride];
  const std::uint32_t count = min(all, tightening.capacity);
  const Key* const keys = tightening.keys.data + q * tightening.keys.stride;
  Key last = no_key;
  if (count >= k) {
    const auto code_at = [=](std::uint32_t at) { return code_of(keys[at]); };
    const std::uint32_t code = count <= 128    ? kth_in_registers<4>(code_at, count, k, lane)
                               : count <= 512  ? kth_in_registers<16>(code_at, count, k, lane)
                               : count <= 1024 ? kth_in_registers<32>(code_at, count, k, lane)
                                               : kth_in_memory(code_at, count, k, lane);
    last = key_with(code);
  }
  if (lane == 0) settle(tightening, terms, q, all, last);
}

/// One warp handles one query. Its `groups` bounds belong to rows that are no candidates.
__global__ __launch_bounds__(warp_threads) void tighten_by_samples(const Tightening tightening,
                                                                   const LimitTerms terms,
                                                                   const Matrix<const std::uint32_t> sample,
                                                                   const std::uint32_t groups) {
  take_turn();
  const std::size_t q = blockIdx.x * warps + threadIdx.x / 32;
  const std::uint32_t lane = threadIdx.x % 32, k = tightening.k;
  if (q >= tightening.rows || groups < k) return;
  const std::uint32_t* const codes = sample.data + q * sample.stride;
  const auto code_at = [=](std::uint32_t at) { return codes[at]; };
  const std::uint32_t code = groups <= 256 ? kth_in_registers<8>(code_at, groups, k, lane)
                                           : kth_in_registers<32>(code_at, groups, k, lane);
  if (lane == 0) lower_threshold(tightening, terms, q, code);
}

/// What the threads of a block share.
struct Counting {
  std::uint32_t count[digits];
  std::uint32_t codes[kept_codes];  // the first codes, which are read from memory only once
  std::uint32_t of_warp[32];
  std::uint32_t least, most;
  std::uint32_t digit;           // of the k-th code
  std::uint32_t before, inside;  // codes with a smaller digit, and with the same
  std::uint32_t taken, code;
};

/// Finds the digit of the k-th code from the counts of all digits. A barrier comes before it, and it ends
/// with one.
template <std::uint32_t threads>
__device__ __forceinline__ void find_digit(Counting& counting, std::uint32_t k) {
  constexpr std::uint32_t each = digits / threads;
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = threadIdx.x * each;
  std::uint32_t mine = 0;
#pragma unroll
  for (std::uint32_t i = 0; i < each; ++i) mine += counting.count[first + i];
  std::uint32_t before = mine;
#pragma unroll
  for (std::uint32_t step = 1; step < 32; step *= 2) {
    const std::uint32_t other = __shfl_up_sync(whole_warp, before, step);
    if (lane >= step) before += other;
  }
  if (lane == 31) counting.of_warp[warp] = before;
  before -= mine;
  __syncthreads();
  for (std::uint32_t i = 0; i < warp; ++i) before += counting.of_warp[i];
  if (before < k && before + mine >= k) {
    std::uint32_t digit = first;
    for (; before + counting.count[digit] < k; ++digit) before += counting.count[digit];
    counting.digit = digit;
    counting.before = before;
    counting.inside = counting.count[digit];
  }
  __syncthreads();
}

/// Calls `use` with each of the codes; several are on their way from memory at a time.
template <std::uint32_t threads, class CodeAt, class Use>
__device__ __forceinline__ void for_each_code(CodeAt code_at, std::uint32_t count, const Counting& counting,
                                              Use use) {
  constexpr std::uint32_t at_once = 4;
  for (std::uint32_t at = threadIdx.x; at < min(count, kept_codes); at += threads) use(counting.codes[at]);
  for (std::uint32_t at = kept_codes + threadIdx.x; at < count; at += at_once * threads) {
    std::uint32_t code[at_once];
#pragma unroll
    for (std::uint32_t i = 0; i < at_once; ++i) code[i] = code_at(min(at + i * threads, count - 1));
#pragma unroll
    for (std::uint32_t i = 0; i < at_once; ++i)
      if (at + i * threads < count) use(code[i]);
  }
}

template <std::uint32_t threads, class CodeAt>
__device__ __forceinline__ void find_range(CodeAt code_at, std::uint32_t count, Counting& counting) {
  constexpr std::uint32_t at_once = 4;
  if (threadIdx.x == 0) {
    counting.least = 0xFFFFFFFFu;
    counting.most = 0;
  }
  __syncthreads();
  Range range;
  for (std::uint32_t at = threadIdx.x; at < count; at += at_once * threads) {
    std::uint32_t code[at_once];
#pragma unroll
    for (std::uint32_t i = 0; i < at_once; ++i) code[i] = code_at(min(at + i * threads, count - 1));
#pragma unroll
    for (std::uint32_t i = 0; i < at_once; ++i) {
      range.add(code[i]);
      if (at + i * threads < min(count, kept_codes)) counting.codes[at + i * threads] = code[i];
    }
  }
  range.share();
  if (threadIdx.x % 32 == 0) {
    atomicMin(&counting.least, range.least);
    atomicMax(&counting.most, range.most);
  }
  __syncthreads();
}

/// Returns the k-th smallest of `count` codes; count is at least k. The whole block calls this.
template <std::uint32_t threads, class CodeAt>
__device__ __forceinline__ std::uint32_t kth_by_block(CodeAt code_at, std::uint32_t count, std::uint32_t k,
                                                      Counting& counting) {
  find_range<threads>(code_at, count, counting);
  // The k-th code is one of the `inside` codes that are at most `span` above `base`.
  std::uint32_t base = counting.least, span = counting.most - base, inside = count;
  while (span > 0 && inside > most_ranked) {
    const std::uint32_t bits = 32 - __clz(static_cast<int>(span)), shift = bits - min(bits, digit_bits);
    for (std::uint32_t i = threadIdx.x; i < digits; i += threads) counting.count[i] = 0;
    __syncthreads();
    for_each_code<threads>(code_at, count, counting, [&](std::uint32_t code) {
      if (code - base <= span) atomicAdd(&counting.count[(code - base) >> shift], 1u);
    });
    __syncthreads();
    find_digit<threads>(counting, k);
    base += counting.digit << shift;
    span = (1u << shift) - 1;
    k -= counting.before;
    inside = counting.inside;
  }
  if (span == 0) return base;
  if (threadIdx.x == 0) counting.taken = 0;
  __syncthreads();
  for_each_code<threads>(code_at, count, counting, [&](std::uint32_t code) {
    if (code - base <= span) counting.count[atomicAdd(&counting.taken, 1u)] = code - base;
  });
  __syncthreads();
  if (threadIdx.x < inside) {
    const std::uint32_t mine = counting.count[threadIdx.x];
    std::uint32_t before = 0;
    for (std::uint32_t i = 0; i < inside; ++i) {
      const std::uint32_t other = counting.count[i];
      before += other < mine || (other == mine && i < threadIdx.x) ? 1 : 0;
    }
    if (before == k - 1) counting.code = base + mine;
  }
  __syncthreads();
  return counting.code;
}

template <std::uint32_t threads>
__global__ __launch_bounds__(threads) void tighten_by_blocks(const Tightening tightening,
                                                             const LimitTerms terms) {
  __shared__ Counting counting;
  take_turn();
  const std::size_t q = blockIdx.x;
  const std::uint32_t all = tightening.counts.data[q * tightening.counts.stride];
  const std::uint32_t count = min(all, tightening.capacity), k = tightening.k;
  const Key* const keys = tightening.keys.data + q * tightening.keys.stride;
  const auto code_at = [=](std::uint32_t at) { return code_of(keys[at]); };
  Key last = no_key;
  if (count >= k) last = key_with(kth_by_block<threads>(code_at, count, k, counting));
  if (threadIdx.x == 0) settle(tightening, terms, q, all, last);
}

template <std::uint32_t threads>
__global__ __launch_bounds__(threads) void tighten_by_samples_of_small_batch(
    const Tightening tightening, const LimitTerms terms, const Matrix<const std::uint32_t> sample,
    const std::uint32_t groups) {
  __shared__ Counting counting;
  take_turn();
  const std::size_t q = blockIdx.x;
  if (groups < tightening.k) return;
  const std::uint32_t* const codes = sample.data + q * sample.stride;
  const auto code_at = [=](std::uint32_t at) { return codes[at]; };
  const std::uint32_t code = kth_by_block<threads>(code_at, groups, tightening.k, counting);
  if (threadIdx.x == 0) lower_threshold(tightening, terms, q, code);
}

}  // namespace

cudaError_t tighten_by_bounds(const Queue& queue, const spi::TightenByBoundsStep& step) {
  Tightening tightening = tightening_by_bounds(step);
  tightening.keys = input_of(step.highs);
  tightening.capacity = capacity_of(step.highs.cols);
  tightening.counts = matrix_of(step.counts);
  tightening.lost = matrix_of(step.lost);
  const LimitTerms terms = limit_terms(tightening.dims);
  // For few queries, one block per query is faster.
  const bool few = tightening.rows <= 4 * queue.multiprocessors && tightening.capacity > 512;
  if (tightening.k <= warp_most_k && !few)
    return launch_in_turn(queue, tighten_by_warps, divide_up(tightening.rows, warps), warp_threads, 0,
                          tightening, terms);
  // Blocks that are not more than multiprocessors have these to themselves.
  if (tightening.rows <= queue.multiprocessors && tightening.capacity > wide_threads)
    return launch_in_turn(queue, tighten_by_blocks<wide_threads>, tightening.rows, wide_threads, 0,
                          tightening, terms);
  return launch_in_turn(queue, tighten_by_blocks<block_threads>, tightening.rows, block_threads, 0,
                        tightening, terms);
}

cudaError_t tighten_by_sample(const Queue& queue, const spi::TightenBySampleStep& step) {
  const Tightening tightening = tightening_by_bounds(step);
  const Matrix<const std::uint32_t> sample = input_of(step.sample);
  const std::uint32_t groups = count_of(step.sample.cols);
  const LimitTerms terms = limit_terms(tightening.dims);
  const bool few = tightening.rows <= 4 * queue.multiprocessors && groups > 256;
  if (few || groups > 1024) {
    const bool wide = tightening.rows <= queue.multiprocessors && groups > wide_threads;
    return wide ? launch_in_turn(queue, tighten_by_samples_of_small_batch<wide_threads>, tightening.rows,
                                 wide_threads, 0, tightening, terms, sample, groups)
                : launch_in_turn(queue, tighten_by_samples_of_small_batch<block_threads>, tightening.rows,
                                 block_threads, 0, tightening, terms, sample, groups);
  }
  return launch_in_turn(queue, tighten_by_samples, divide_up(tightening.rows, warps), warp_threads, 0,
                        tightening, terms, sample, groups);
}

}  // namespace kith::cuda
