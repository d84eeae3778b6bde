// vote: each neighbour has one vote; the class with most votes wins, and the smallest of equal ones.
//
//   nearest [q, k]         keys; no_key does not vote
//   labels  [n]            the class of each training row
//   counts  [q, classes]   votes            winner [q, 1]   no_row without a vote
//
// A team counts the votes of a query: a warp, or a block of 256 threads if k is large or classes are many.
// Then it finds the largest count. There are three ways to count:
//   vote              adds atomically to the query's row of `counts`.
//   vote_atomic       A block handles a query, a thread a neighbour. It adds atomically to counters in shared
//                     memory if these take up to 47 KiB, else in `counts`. Source: GS_KNN (Liu, Zheng, Liu
//                     2019); knn01 (Batlle, Ballber 2020).
//   vote_branch_free  The votes of class c are the sum of (label == c) over all neighbours: one ballot per
//                     class and 32 neighbours. No address and no branch depends on a label. Source: knn03
//                     (Batlle, Ballber 2020), for two classes.
// Work per query, shared by the team: k additions and 2 classes steps; branch-free, k classes / 32 ballots.
#include "common/common.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t vote_threads = 256;
constexpr std::uint32_t voting_warp = 0xFFFFFFFFu;

struct Voting {
  Matrix<const Key> nearest;  ///< [rows, k]
  std::uint32_t rows;
  std::uint32_t k;
  const std::uint32_t* labels;  ///< [n]
  std::uint32_t classes;
  Matrix<std::uint32_t> counts;  ///< [rows, classes]
  Matrix<std::uint32_t> winner;  ///< [rows, 1]
};

Voting voting_of(const spi::VoteStep& step) {
  return {input_of(step.nearest),
          count_of(step.nearest.rows),
          count_of(step.nearest.cols),
          input_of(step.labels).data,
          step.classes,
          matrix_of(step.counts),
          matrix_of(step.winner)};
}

template <std::uint32_t team>
__device__ __forceinline__ void wait_for_team() {
  if constexpr (team > 32) {
    __syncthreads();
  } else {
    __syncwarp();
  }
}

/// Returns a number that is larger for more votes, and for equal votes if the class is smaller.
__device__ __forceinline__ std::uint64_t merit(std::uint32_t votes, std::uint32_t c) {
  return votes == 0 ? 0 : static_cast<std::uint64_t>(votes) << 32 | ~c;
}

/// Writes the class with the best merit that a member of the team has. A team that is a block may have fewer
/// threads than `team`.
template <std::uint32_t team>
__device__ __forceinline__ void write_winner(const Voting& voting, std::uint64_t q, std::uint64_t best) {
  __shared__ std::uint64_t best_of_warp[vote_threads / 32];
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    best = max(best, static_cast<std::uint64_t>(
                         __shfl_xor_sync(voting_warp, static_cast<unsigned long long>(best), step)));
  if constexpr (team > 32) {
    if (threadIdx.x % 32 == 0) best_of_warp[threadIdx.x / 32] = best;
    __syncthreads();
    for (std::uint32_t w = 0; w < blockDim.x / 32; ++w) best = max(best, best_of_warp[w]);
  }
  if (threadIdx.x % team == 0)
    voting.winner.data[q * voting.winner.stride] = best == 0 ? no_row : ~static_cast<std::uint32_t>(best);
}

template <std::uint32_t team>
__global__ __launch_bounds__(vote_threads) void vote_by_team(const Voting voting) {
  const std::uint64_t q = std::uint64_t{blockIdx.x} * (vote_threads / team) + threadIdx.x / team;
  const std::uint32_t member = threadIdx.x % team;
  if (q >= voting.rows) return;  // all threads of the team return
  const Key* nearest = voting.nearest.data + q * voting.nearest.stride;
  std::uint32_t* counts = voting.counts.data + q * voting.counts.stride;

  for (std::uint32_t c = member; c < voting.classes; c += team) counts[c] = 0;
  wait_for_team<team>();
  for (std::uint32_t j = member; j < voting.k; j += team) {
    const Key key = nearest[j];
    if (key != no_key) atomicAdd(&counts[voting.labels[static_cast<std::uint32_t>(key)]], 1u);
  }
  wait_for_team<team>();
  std::uint64_t best = 0;
  for (std::uint32_t c = member; c < voting.classes; c += team)
    best = max(best, merit(__ldcg(&counts[c]), c));
  write_winner<team>(voting, q, best);
}

/// Block q counts for query q.
template <bool shared>
__global__ __launch_bounds__(vote_threads) void vote_by_block(const Voting voting) {
  extern __shared__ std::uint32_t counters[];
  const std::uint64_t q = blockIdx.x;
  const Key* nearest = voting.nearest.data + q * voting.nearest.stride;
  std::uint32_t* out = voting.counts.data + q * voting.counts.stride;
  std::uint32_t* counts = shared ? counters : out;

  for (std::uint32_t c = threadIdx.x; c < voting.classes; c += blockDim.x) counts[c] = 0;
  __syncthreads();
  for (std::uint32_t j = threadIdx.x; j < voting.k; j += blockDim.x) {
    const Key key = nearest[j];
    if (key != no_key) atomicAdd(&counts[voting.labels[static_cast<std::uint32_t>(key)]], 1u);
  }
  __syncthreads();
  std::uint64_t best = 0;
  for (std::uint32_t c = threadIdx.x; c < voting.classes; c += blockDim.x) {
    const std::uint32_t votes = shared ? counts[c] : __ldcg(&counts[c]);
    if constexpr (shared) out[c] = votes;
    best = max(best, merit(votes, c));
  }
  write_winner<vote_threads>(voting, q, best);
}

/// Counts 32 classes at a time; lane l of every warp keeps the count of class number l of these.
template <std::uint32_t team>
__global__ __launch_bounds__(vote_threads) void vote_without_branches(const Voting voting) {
  __shared__ std::uint32_t count_of_warp[vote_threads / 32][32];
  const std::uint64_t q = std::uint64_t{blockIdx.x} * (vote_threads / team) + threadIdx.x / team;
  const std::uint32_t member = threadIdx.x % team, lane = threadIdx.x % 32;
  if (q >= voting.rows) return;  // all threads of the team return
  const Key* nearest = voting.nearest.data + q * voting.nearest.stride;
  std::uint32_t* counts = voting.counts.data + q * voting.counts.stride;

  std::uint64_t best = 0;
  for (std::uint64_t first = 0; first < voting.classes; first += 32) {
    const auto some = static_cast<std::uint32_t>(min(std::uint64_t{32}, voting.classes - first));
    std::uint32_t votes = 0;
    for (std::uint64_t j0 = member - lane; j0 < voting.k; j0 += team) {
      const std::uint64_t j = j0 + lane;
      const Key key = j < voting.k ? nearest[j] : no_key;
      // A neighbour that does not vote reads the first label, and gets no class.
      const std::uint32_t label = voting.labels[key == no_key ? 0 : static_cast<std::uint32_t>(key)];
      const std::uint64_t number = (key == no_key ? no_row : label) - first;
      for (std::uint32_t c = 0; c < some; ++c) {
        const auto sum = static_cast<std::uint32_t>(__popc(__ballot_sync(voting_warp, number == c)));
        votes += lane == c ? sum : 0;
      }
    }
    if constexpr (team > 32) {
      __syncthreads();  // the counts before have been read
      count_of_warp[threadIdx.x / 32][lane] = votes;
      __syncthreads();
      votes = 0;
      for (std::uint32_t w = 0; w < team / 32; ++w) votes += count_of_warp[w][lane];
    }
    if (member < some) counts[first + member] = votes;
    if (lane < some) best = max(best, merit(votes, static_cast<std::uint32_t>(first) + lane));
  }
  write_winner<team>(voting, q, best);
}

/// Returns whether a query has enough work for a block.
bool is_large(const Voting& voting) {
  constexpr std::uint32_t large = 1024;
  return voting.k > large || voting.classes > large;
}

}  // namespace

cudaError_t vote(const Queue& queue, const spi::VoteStep& step) {
  const Voting voting = voting_of(step);
  if (is_large(voting))
    return launch(queue, vote_by_team<vote_threads>, voting.rows, vote_threads, 0, voting);
  return launch(queue, vote_by_team<32>, divide_up<std::uint64_t>(voting.rows, vote_threads / 32),
                vote_threads, 0, voting);
}

cudaError_t vote_atomic(const Queue& queue, const spi::VoteStep& step) {
  const Voting voting = voting_of(step);
  constexpr std::size_t most_shared = 47 * 1024;  // leaves space for best_of_warp
  const std::size_t bytes = std::size_t{voting.classes} * sizeof(std::uint32_t);
  const std::uint32_t block = std::min(vote_threads, divide_up(voting.k, 32u) * 32);
  if (bytes <= most_shared) return launch(queue, vote_by_block<true>, voting.rows, block, bytes, voting);
  return launch(queue, vote_by_block<false>, voting.rows, vote_threads, 0, voting);
}

cudaError_t vote_branch_free(const Queue& queue, const spi::VoteStep& step) {
  const Voting voting = voting_of(step);
  if (is_large(voting))
    return launch(queue, vote_without_branches<vote_threads>, voting.rows, vote_threads, 0, voting);
  return launch(queue, vote_without_branches<32>, divide_up<std::uint64_t>(voting.rows, vote_threads / 32),
                vote_threads, 0, voting);
}

}  // namespace kith::cuda
