#include "prepare/prepare_fp16.hpp"
#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::PrepareStep& step) const {
  if (step.proposer != Proposer::gemm && !spi::is_scaled(step.proposer))
    return {"it prepares nothing for proposer " + std::string(name(step.proposer)) +
                "; choose gemm, fp16, int8 or int4",
            0};
  return {refusal_of_rows("rows", step.rows), 0};
}

cudaError_t Device::enqueue(const spi::PrepareStep& step) {
  if (step.rows.rows == 0) return cudaSuccess;
  if (spi::multiplies_bytes(step.proposer)) return prepare_bytes(queue_, step);
  return step.proposer == Proposer::fp16 ? prepare_fp16(queue_, step) : prepare(queue_, step);
}

}  // namespace kith::cuda
