// score: adds the weights of the neighbours of each class in the order of their ranks, starting at 0.
//
//   nearest  [q, k]         keys; no_key has no vote
//   weights  [q, k]         finite, >= 0
//   labels   [n]            the class of each training row
//   sums     [q, classes]   each addition is rounded once, so that the order determines the result
//
// The classes of the neighbours are not known in advance, but only neighbours of the same class have to wait
// for each other. A team of threads, a power of two, handles a query, with as many neighbours at a time as it
// has threads. The thread of the first neighbour of a class adds the others of this class, in order, to the
// sum so far. Each class has only one such thread, so that no addition is atomic.
// Work per query: `classes` stores, and k steps of each thread. Barriers: 1 + 2 ceil(k / team). Shared
// memory: 2 KiB.
#include "common/common.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t score_threads = 256;

struct Scoring {
  Matrix<const Key> nearest;    ///< [rows, k]
  Matrix<const float> weights;  ///< [rows, k]
  std::uint32_t rows;
  std::uint32_t k;
  const std::uint32_t* labels;  ///< [n]
  std::uint32_t classes;
  Matrix<float> sums;  ///< [rows, classes]
};

__global__ __launch_bounds__(score_threads) void score_by_team(const Scoring scoring,
                                                               const std::uint32_t team) {
  __shared__ std::uint32_t staged_labels[score_threads];
  __shared__ float staged_weights[score_threads];
  const std::uint32_t member = threadIdx.x % team, k = scoring.k;
  const std::uint64_t q = std::uint64_t{blockIdx.x} * (score_threads / team) + threadIdx.x / team;
  const bool exists = q < scoring.rows;  // if not, the thread only takes part in barriers
  const std::uint32_t* const label = staged_labels + (threadIdx.x - member);
  const float* const weight = staged_weights + (threadIdx.x - member);
  const Key* const nearest = scoring.nearest.data + q * scoring.nearest.stride;
  const float* const weights = scoring.weights.data + q * scoring.weights.stride;
  float* const sums = scoring.sums.data + q * scoring.sums.stride;
  if (exists)
    for (std::uint64_t c = member; c < scoring.classes; c += team) sums[c] = 0.0f;
  __syncthreads();
  for (std::uint64_t j0 = 0; j0 < k; j0 += team) {
    const std::uint64_t j = j0 + member;
    const Key key = exists && j < k ? nearest[j] : no_key;
    const std::uint32_t mine = key == no_key ? no_row : scoring.labels[static_cast<std::uint32_t>(key)];
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

cudaError_t score(const Queue& queue, const spi::ScoreStep& step) {
  const Scoring scoring{input_of(step.nearest),      input_of(step.weights),     count_of(step.nearest.rows),
                        count_of(step.nearest.cols), input_of(step.labels).data, step.classes,
                        matrix_of(step.sums)};
  // The team is as wide as there are neighbours to add or classes to set to 0.
  const std::uint32_t team =
      power_of_two(std::min(score_threads, std::max({scoring.k, scoring.classes, 1u})));
  return launch(queue, score_by_team, divide_up<std::uint64_t>(scoring.rows, score_threads / team),
                score_threads, 0, scoring, team);
}

}  // namespace kith::cuda
