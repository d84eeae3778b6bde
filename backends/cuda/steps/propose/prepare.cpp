#include "prepare/prepare_fp16.hpp"
#include "propose/int8.hpp"
#include "steps/steps.hpp"

namespace kith::cuda {

static_assert(fact::half_norm == spi::half_norm && fact::norm == spi::norm &&
              fact::shadow_norm == spi::shadow_norm && fact::residual == spi::residual);

spi::Support Device::check(const spi::PrepareStep& step) const {
  if (step.proposer != Proposer::gemm && !on_tensor_cores(step.proposer))
    return {"it prepares nothing for proposer " + std::string(name(step.proposer)) +
                "; choose gemm, fp16 or int8",
            0};
  if (step.copy.rows > 0 && step.proposer == Proposer::gemm)
    return {"it copies rows for proposers fp16 and int8; copy none", 0};
  return {refusal_of_rows("rows", step.rows), 0};
}

cudaError_t Device::enqueue(const spi::PrepareStep& step) {
  if (step.rows.rows == 0) return cudaSuccess;
  Preparation preparation{rows_of(step.rows), input_of(step.centre).data, {}, matrix_of(step.out.facts), {}};
  if (step.copy.rows > 0) preparation.copy = matrix_of(step.copy);
  if (on_tensor_cores(step.proposer)) {
    preparation.shadow.data = static_cast<float*>(shadow_of(step.proposer, step.out.rows));
    if (step.proposer == Proposer::int8) return prepare_int8(queue_, preparation, step.scale);
    return (step.queries ? prepare_fp16_queries : prepare_fp16)(queue_, preparation, step.scale);
  }
  preparation.shadow = matrix_of(step.out.rows);
  return prepare(queue_, preparation);
}

}  // namespace kith::cuda
