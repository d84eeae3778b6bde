#include "int8.hpp"
#include "prepare_fp16.hpp"
#include "rows_in_order.hpp"
#include "steps.hpp"

namespace kith::cuda {

static_assert(fact::half_norm == spi::half_norm && fact::norm == spi::norm &&
              fact::shadow_norm == spi::shadow_norm && fact::residual == spi::residual);
static_assert(most_split_dims == spi::most_split_dims);

spi::Support Device::check(const spi::PrepareStep& step) const {
  if (step.proposer != Proposer::gemm && !on_tensor_cores(step.proposer) && step.proposer != Proposer::none)
    return {"it prepares nothing for proposer " + std::string(name(step.proposer)) +
                "; choose gemm, fp16 or int8",
            0};
  return {refusal_of_rows("rows", step.rows), 0};
}

cudaError_t Device::enqueue(const spi::PrepareStep& step) {
  if (step.rows.rows == 0) return cudaSuccess;
  if (step.proposer == Proposer::none)
    return put_in_order(queue_, rows_of(step.rows), matrix_of(step.out.rows));
  Preparation preparation{rows_of(step.rows), input_of(step.centre).data, {}, matrix_of(step.out.facts)};
  if (on_tensor_cores(step.proposer)) {
    preparation.shadow.data = static_cast<float*>(shadow_of(step.proposer, step.out.rows));
    if (step.proposer == Proposer::int8) return prepare_int8(queue_, preparation, step.scale);
    return (step.queries ? prepare_fp16_queries : prepare_fp16)(queue_, preparation, step.scale);
  }
  preparation.shadow = matrix_of(step.out.rows);
  return prepare(queue_, preparation);
}

}  // namespace kith::cuda
