#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::VoteStep& step) const {
  return {refusal_of_lists(step.nearest.rows, 1), 0};
}

cudaError_t Device::enqueue(const spi::VoteStep& step) {
  Ballot ballot{};
  ballot.nearest = input_of(step.nearest);
  ballot.rows = static_cast<std::uint32_t>(step.nearest.rows);
  ballot.k = static_cast<std::uint32_t>(step.nearest.cols);
  ballot.labels = input_of(step.labels).data;
  ballot.classes = step.classes;
  ballot.counts = matrix_of(step.counts);
  ballot.winner = matrix_of(step.winner);
  switch (step.method) {
    case spi::VoteMethod::atomic:
      return vote_atomic(queue_, ballot);
    case spi::VoteMethod::branch_free:
      return vote_branch_free(queue_, ballot);
    case spi::VoteMethod::automatic:
      break;
  }
  return vote(queue_, ballot);
}

}  // namespace kith::cuda
