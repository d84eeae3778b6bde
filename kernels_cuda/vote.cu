// vote: one vote for each neighbour; most votes win, of several classes the smallest.
//
//   nearest [q, k]         keys; no_key does not vote
//   labels  [n]            a class for each training row
//   counts  [q, classes]   votes            winner [q, 1]   no_row where nobody voted
//
// A team counts the votes of a query in its row of `counts`, by atomic additions, and then looks for
// the largest: a warp, or a block of 256 where k or the classes are many.
// Work for a query: k additions and 2 classes steps, shared by the team.
#include "common.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t threads = 256;

template <std::uint32_t team>
__device__ __forceinline__ void wait_for_team() {
  if constexpr (team > 32) {
    __syncthreads();
  } else {
    __syncwarp();
  }
}

/// Votes above, then the smaller class first: the order in which larger is better.
__device__ __forceinline__ std::uint64_t merit(std::uint32_t votes, std::uint32_t c) {
  return votes == 0 ? 0 : static_cast<std::uint64_t>(votes) << 32 | ~c;
}

template <std::uint32_t team>
__global__ __launch_bounds__(threads) void vote_by_team(const Ballot ballot) {
  __shared__ std::uint64_t best_of_warp[threads / 32];
  const std::uint64_t q = std::uint64_t{blockIdx.x} * (threads / team) + threadIdx.x / team;
  const std::uint32_t member = threadIdx.x % team;
  if (q >= ballot.rows) return;  // a whole team
  const Key* nearest = ballot.nearest.data + q * ballot.nearest.stride;
  std::uint32_t* counts = ballot.counts.data + q * ballot.counts.stride;

  for (std::uint32_t c = member; c < ballot.classes; c += team) counts[c] = 0;
  wait_for_team<team>();
  for (std::uint32_t j = member; j < ballot.k; j += team) {
    const Key key = nearest[j];
    if (key != no_key) atomicAdd(&counts[ballot.labels[static_cast<std::uint32_t>(key)]], 1u);
  }
  wait_for_team<team>();
  std::uint64_t best = 0;
  for (std::uint32_t c = member; c < ballot.classes; c += team)
    best = max(best, merit(__ldcg(&counts[c]), c));
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    best = max(best, static_cast<std::uint64_t>(
                         __shfl_xor_sync(0xFFFFFFFFu, static_cast<unsigned long long>(best), step)));
  if constexpr (team > 32) {
    if (threadIdx.x % 32 == 0) best_of_warp[threadIdx.x / 32] = best;
    __syncthreads();
    for (std::uint32_t w = 0; w < threads / 32; ++w) best = max(best, best_of_warp[w]);
  }
  if (member == 0)
    ballot.winner.data[q * ballot.winner.stride] = best == 0 ? no_row : ~static_cast<std::uint32_t>(best);
}

}  // namespace

cudaError_t vote(const Queue& queue, const Ballot& ballot) {
  constexpr std::uint32_t large = 1024;
  if (ballot.k > large || ballot.classes > large)
    return launch(queue, vote_by_team<threads>, ballot.rows, threads, 0, ballot);
  return launch(queue, vote_by_team<32>, divide_up<std::uint64_t>(ballot.rows, threads / 32), threads, 0,
                ballot);
}

}  // namespace kith::cuda
