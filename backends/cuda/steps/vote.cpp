#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::VoteStep& step) const {
  return {refusal_of_lists(step.nearest.rows, 1), 0};
}

cudaError_t Device::enqueue(const spi::VoteStep& step) {
  switch (step.method) {
    case spi::VoteMethod::atomic:
      return vote_atomic(queue_, step);
    case spi::VoteMethod::branch_free:
      return vote_branch_free(queue_, step);
    case spi::VoteMethod::automatic:
      break;
  }
  return vote(queue_, step);
}

}  // namespace kith::cuda
