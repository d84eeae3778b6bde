#include "steps.hpp"

namespace kith::cuda {

static_assert(fact::half_norm == spi::half_norm && fact::norm == spi::norm &&
              fact::shadow_norm == spi::shadow_norm && fact::residual == spi::residual);

spi::Support Device::check(const spi::PrepareStep& step) const {
  if (step.proposer != Proposer::gemm && step.proposer != Proposer::fp16)
    return {"it prepares nothing for proposer " + std::string(name(step.proposer)) + "; choose gemm or fp16",
            0};
  return {refusal_of_rows("rows", step.rows), 0};
}

cudaError_t Device::enqueue(const spi::PrepareStep& step) {
  if (step.rows.rows == 0) return cudaSuccess;
  Preparation preparation{rows_of(step.rows), input_of(step.centre).data, {}, matrix_of(step.out.facts)};
  if (step.proposer == Proposer::fp16) {
    preparation.shadow.data = static_cast<float*>(halves_of(step.out.rows));
    return prepare_fp16(queue_, preparation, step.scale);
  }
  preparation.shadow = matrix_of(step.out.rows);
  return prepare(queue_, preparation);
}

}  // namespace kith::cuda
