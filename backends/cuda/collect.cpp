#include "steps.hpp"

namespace kith::cuda {
namespace {

/// The inner products of the shadows, into `values`.
void multiply(Cublas& cublas, const spi::CollectStep& step) {
  const auto operand = [](const spi::Grid<float>& rows) {
    const Matrix<const float> matrix = input_of(rows);
    return ProductOperand{matrix.data, rows.rows, matrix.stride};
  };
  const Matrix<float> out = matrix_of(step.values);
  cublas.multiply(operand(step.queries.rows), operand(step.train.rows), step.train.rows.cols, out.data,
                  out.stride);
}

ProductBound bound_of(const spi::CollectStep& step) {
  const auto dims = static_cast<std::uint32_t>(step.train.rows.cols);
  return {is_squared(step.metric),
          input_of(step.queries.facts),
          input_of(step.train.facts),
          static_cast<std::uint32_t>(step.values.rows),
          static_cast<std::uint32_t>(step.values.cols),
          dims,
          step.proposer == Proposer::fp16 ? product_error_fp16(dims) : product_error(dims)};
}

HalfCollection half_collection_of(const spi::CollectStep& step, const float* low) {
  return {halves_of(step.queries.rows),
          halves_of(step.train.rows),
          static_cast<std::uint32_t>(step.values.rows),
          static_cast<std::uint32_t>(step.values.cols),
          static_cast<std::uint32_t>(step.train.rows.cols),
          step.unscale,
          low,
          input_of(step.theta),
          step.first_row,
          lists_of<std::uint32_t>(step.out)};
}

std::string refusal_of_halves(const spi::CollectStep& step, int capability) {
  if (capability < 80)
    return "proposer fp16 needs the tensor cores of compute capability 8.0 or newer, and this device has " +
           std::to_string(capability / 10) + "." + std::to_string(capability % 10) + "; choose gemm or none";
  if (step.train.rows.first % spi::shadow_rows != 0 || step.queries.rows.first % spi::shadow_rows != 0)
    return "shadows of 16-bit floats begin at a multiple of " + std::to_string(spi::shadow_rows) + " rows";
  return "";
}

}  // namespace

std::string refusal_of_products(Metric metric, std::size_t dims) {
  if (!is_squared(metric) && metric != Metric::negative_dot && metric != Metric::cosine)
    return "metric " + std::string(name(metric)) +
           " does not follow from inner products; choose proposer none";
  if (dims > product_max_dims)
    return "the bound of proposer gemm holds for at most " + std::to_string(product_max_dims) +
           " columns, but these are " + std::to_string(dims) + "; choose proposer none";
  return "";
}

spi::Support Device::check(const spi::CollectStep& step) const {
  if (step.bounds.low.cols > 0 || step.visits.rows > 0)
    return {"it lists candidates without bounds, in the order of their rows", 0};
  if (step.proposer == Proposer::none) return {};
  if (step.proposer != Proposer::gemm && step.proposer != Proposer::fp16)
    return {"it has no proposer " + std::string(name(step.proposer)) + "; choose none, gemm or fp16", 0};
  const bool fp16 = step.proposer == Proposer::fp16;
  std::string refusal = refusal_of_products(step.metric, step.train.rows.cols);
  if (refusal.empty()) refusal = fp16 ? refusal_of_halves(step, capability_) : Cublas::refusal();
  if (!refusal.empty()) return {refusal, 0};
  if (!fp16) try {
      cublas();  // so that nothing is opened or allocated in a search
    } catch (const Error& error) {
      return {error.what(), 0};
    }
  return {"", product_low_scratch(static_cast<std::uint32_t>(step.values.cols))};
}

cudaError_t Device::enqueue(const spi::CollectStep& step) {
  if (step.values.rows == 0 || step.values.cols == 0) return cudaSuccess;
  const float* low = nullptr;
  if (step.proposer != Proposer::none) {
    const cudaError_t error = product_low(queue_, bound_of(step), scratch_of(step.scratch), &low);
    if (error != cudaSuccess) return error;
  }
  if (step.proposer == Proposer::fp16) return collect_fp16(queue_, half_collection_of(step, low));
  if (step.proposer == Proposer::gemm) multiply(cublas(), step);
  return collect(queue_, {input_of(step.values), static_cast<std::uint32_t>(step.values.rows),
                          static_cast<std::uint32_t>(step.values.cols), low, input_of(step.theta),
                          step.first_row, lists_of<std::uint32_t>(step.out)});
}

}  // namespace kith::cuda
