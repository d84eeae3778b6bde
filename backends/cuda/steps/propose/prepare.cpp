#include "prepare/prepare_fp16.hpp"
#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::PrepareStep& step) const {
  if (step.proposer != Proposer::gemm && !on_tensor_cores(step.proposer))
    return {"it prepares nothing for proposer " + std::string(name(step.proposer)) +
                "; choose gemm, fp16 or int8",
            0};
  return {refusal_of_rows("rows", step.rows), 0};
}

cudaError_t Device::enqueue(const spi::PrepareStep& step) {
  if (step.rows.rows == 0) return cudaSuccess;
  if (step.proposer == Proposer::int8) return prepare_int8(queue_, step);
  return step.proposer == Proposer::fp16 ? prepare_fp16(queue_, step) : prepare(queue_, step);
}

}  // namespace kith::cuda
