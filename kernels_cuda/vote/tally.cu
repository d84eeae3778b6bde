// tally: the weights of the neighbours of each class, added in order of rank, beginning with 0.
//
//   nearest  [q, k]         keys; no_key has no vote
//   weights  [q, k]         finite, >= 0
//   labels   [n]            a class for each training row
//   sums     [q, classes]   each addition rounded once, so the order is part of the result
//
// Which classes the neighbours have is not known before, but only those of one class wait for each other. A
// team of threads, a power of two, has a query, a thread a neighbour, and takes so many neighbours at a time.
// The first neighbour of a class among these adds the others of it, in order, to what the sum was; for a
// class there is one such thread, so no addition is atomic. Work for a query: `classes` stores, k steps of
// each thread. Barriers: 1 + 2 ceil(k / team). Shared memory: 2 KiB.
#include "common/common.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t threads = 256;

struct Tallying {
  Matrix<const Key> nearest;    ///< [rows, k]
  Matrix<const float> weights;  ///< [rows, k]
  std::uint32_t rows;
  std::uint32_t k;
  const std::uint32_t* labels;  ///< [n]
  std::uint32_t classes;
  Matrix<float> sums;  ///< [rows, classes]
};

__global__ __launch_bounds__(threads) void tally_by_team(const Tallying tallying, const std::uint32_t team) {
  __shared__ std::uint32_t staged_labels[threads];
  __shared__ float staged_weights[threads];
  const std::uint32_t member = threadIdx.x % team, k = tallying.k;
  const std::uint64_t q = std::uint64_t{blockIdx.x} * (threads / team) + threadIdx.x / team;
  const bool exists = q < tallying.rows;  // else it goes along, for the barriers
  const std::uint32_t* const label = staged_labels + (threadIdx.x - member);
  const float* const weight = staged_weights + (threadIdx.x - member);
  const Key* const nearest = tallying.nearest.data + q * tallying.nearest.stride;
  const float* const weights = tallying.weights.data + q * tallying.weights.stride;
  float* const sums = tallying.sums.data + q * tallying.sums.stride;
  if (exists)
    for (std::uint64_t c = member; c < tallying.classes; c += team) sums[c] = 0.0f;
  __syncthreads();
  for (std::uint64_t j0 = 0; j0 < k; j0 += team) {
    const std::uint64_t j = j0 + member;
    const Key key = exists && j < k ? nearest[j] : no_key;
    const std::uint32_t mine = key == no_key ? no_row : tallying.labels[static_cast<std::uint32_t>(key)];
    staged_labels[threadIdx.x] = mine;
    staged_weights[threadIdx.x] = key == no_key ? 0.0f : weights[j];
    __syncthreads();
    std::uint32_t i = 0;
    while (i < member && label[i] != mine) ++i;
    if (mine != no_row && i == member) {
      const auto staged = static_cast<std::uint32_t>(min(std::uint64_t{team}, k - j0));
      float sum = sums[mine];
      for (; i < staged; ++i)
        if (label[i] == mine) sum += weight[i];
      sums[mine] = sum;
    }
    __syncthreads();
  }
}

}  // namespace

cudaError_t tally(const Queue& queue, const spi::TallyStep& step) {
  const Tallying tallying{input_of(step.nearest),      input_of(step.weights),
                          count_of(step.nearest.rows), count_of(step.nearest.cols),
                          input_of(step.labels).data,  step.classes,
                          matrix_of(step.sums)};
  // A team as wide as there is work for: neighbours to add, classes to begin with 0.
  const std::uint32_t team = power_of_two(std::min(threads, std::max({tallying.k, tallying.classes, 1u})));
  return launch(queue, tally_by_team, divide_up<std::uint64_t>(tallying.rows, threads / team), threads, 0,
                tallying, team);
}

}  // namespace kith::cuda
