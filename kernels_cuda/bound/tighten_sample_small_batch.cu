// tighten by a sample, for few queries and a small k: computes the threshold from the k-th smallest bound of
// rows that are no candidates.
//
//   sample     [q, groups]  bounds, as codes
//   threshold  [q, 1]       in and out: it never grows; with fewer than k groups it does not change
//
// One block handles one query, and keeps its k smallest codes (shortlist.cuh). The first 2048 codes are read
// at once, and give a first bound, which refuses all but slightly more than k; these are ordered by counting.
// The method of tighten_bounds.cu, digit by digit, would need several rounds with barriers.
// Work: each code is read once; five barriers. Shared memory: 4 KiB.
#include "bound/threshold.cuh"
#include "common/shortlist.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t sample_threads = 512, sample_each = 4, sample_capacity = 512;
static_assert(sample_capacity >= 2 * sample_small_batch_max_k);

__global__ __launch_bounds__(sample_threads) void tighten_by_first_of_sample(
    const Tightening tightening, const LimitTerms terms, const Matrix<const std::uint32_t> sample,
    const std::uint32_t groups) {
  __shared__ Key buffer[sample_capacity];
  __shared__ ShortlistState<1> state;
  take_turn();
  const std::size_t q = blockIdx.x;
  const std::uint32_t k = tightening.k;
  const std::uint32_t* const codes = sample.data + q * sample.stride;
  Shortlist<1> shortlist(state, buffer, sample_capacity, k);
  shortlist.start([](std::uint32_t) { return true; });
  for (std::uint64_t i0 = 0; i0 < groups; i0 += sample_threads * sample_each) {
    Key key[sample_each];
    Key least = no_key;
#pragma unroll
    for (std::uint32_t v = 0; v < sample_each; ++v) {
      const std::uint64_t i = i0 + v * sample_threads + threadIdx.x;
      key[v] = i < groups ? static_cast<Key>(codes[i]) << 32 | i : no_key;
      least = min(least, key[v]);
    }
    if (i0 == 0) shortlist.seed([&](int) { return static_cast<std::uint32_t>(least >> 32); });
    const Key bound = shortlist.bound(0);
    std::uint32_t pending = 0;
#pragma unroll
    for (std::uint32_t v = 0; v < sample_each; ++v)
      if (key[v] < bound) pending |= 1u << v;
    shortlist.offer<sample_each>(pending, [&](int, int v) { return key[v]; });
  }
  shortlist.deliver([&](std::uint32_t, std::uint32_t j, Key key) {
    if (j == k - 1) lower_threshold(tightening, terms, q, static_cast<std::uint32_t>(key >> 32));
  });
}

}  // namespace

cudaError_t tighten_by_small_batch(const Queue& queue, const spi::TightenBySampleStep& step) {
  const std::uint32_t groups = count_of(step.sample.cols);
  if (groups < step.k) return cudaSuccess;
  const Tightening tightening = tightening_by_bounds(step);
  return launch_in_turn(queue, tighten_by_first_of_sample, tightening.rows, sample_threads, 0, tightening,
                        limit_terms(tightening.dims), input_of(step.sample), groups);
}

}  // namespace kith::cuda
