#include <algorithm>

#include "propose/fused_test.hpp"
#include "propose/int8.hpp"
#include "steps/steps.hpp"

namespace kith::cuda {
namespace {

/// Writes the inner products of the quantized rows to `values`.
void multiply(Cublas& cublas, const spi::CollectStep& step) {
  const auto operand = [](const spi::Grid<float>& rows) {
    const Matrix<const float> matrix = input_of(rows);
    return ProductOperand{matrix.data, rows.rows, matrix.stride};
  };
  const Matrix<float> out = matrix_of(step.values);
  cublas.multiply(operand(step.queries.rows), operand(step.train.rows), step.train.rows.cols, out.data,
                  out.stride);
}

/// Returns why tensor cores cannot run a step; empty if they can.
std::string refusal_of_products_there(const spi::CollectStep& step, const Queue& queue) {
  const std::string what = "proposer " + std::string(name(step.proposer));
  if (const std::string why = refusal_of_tensor_cores(queue.capability, queue.shared_bytes); !why.empty())
    return what + " " + why + "; choose gemm or none";
  const bool takes_many =
      !spi::multiplies_bytes(step.proposer) ||
      (step.proposer == Proposer::int8 && takes_collect_hopper(queue.capability, queue.shared_bytes));
  return takes_many ? "" : spi::refusal_of_many_queries(step);
}

/// Refuses what a product in memory does not allow: bounds of candidates, and too many columns.
std::string refusal_of_product(const spi::CollectStep& step) {
  if (step.bounds.low.cols > 0) return "proposer gemm lists candidates without bounds; choose fp16";
  std::string refusal = refusal_of_gemm(step.proposer, step.train.rows.cols);
  return refusal.empty() ? Cublas::refusal() : refusal;
}

}  // namespace

std::string refusal_of_gemm(Proposer proposer, std::size_t dims) {
  return proposer == Proposer::gemm ? spi::refusal_of_columns(proposer, dims, product_max_dims) : "";
}

spi::Support Device::check(const spi::CollectStep& step) const {
  if (step.proposer == Proposer::none) return {};
  const bool gemm = step.proposer == Proposer::gemm;
  if (!gemm && !spi::is_scaled(step.proposer))
    return {
        "it has no proposer " + std::string(name(step.proposer)) + "; choose none, gemm, fp16, int8 or int4",
        0};
  std::string refusal = gemm ? refusal_of_product(step) : refusal_of_products_there(step, queue_);
  if (!refusal.empty()) return {refusal, 0};
  if (spi::multiplies_bytes(step.proposer) && step.values.rows <= spi::small_batch) return {};
  if (gemm) try {
      cublas();                     // so that nothing is opened or allocated in a search
    } catch (const Error& error) {  // a temporary failure is not returned, because refusals are remembered
      if (error.code() != Errc::unsupported) throw;
      return {error.what(), 0};
    }
  const std::size_t apart = collect_low_scratch(step);
  return {"", may_fuse_test(step) ? std::max(apart, collect_fp16_fused_test_scratch(step)) : apart};
}

cudaError_t Device::enqueue(const spi::CollectStep& step) {
  if (step.values.rows == 0 || step.values.cols == 0) return cudaSuccess;
  if (step.proposer == Proposer::none) return collect_values(queue_, step);
  switch (spi::products_of(step)) {
    case spi::ProductKind::bytes:
      if (step.values.rows <= spi::small_batch) return collect_bytes(queue_, step);
      break;
    case spi::ProductKind::halves_small_batch:
      return collect_fp16_small_batch(queue_, step);
    case spi::ProductKind::halves_fused_test:
      return collect_fp16_fused_test(queue_, step);
    case spi::ProductKind::halves:
    case spi::ProductKind::sums:
      break;
  }
  const cudaError_t error = collect_low(queue_, step);
  if (error != cudaSuccess) return error;
  if (step.proposer == Proposer::gemm) {
    spi::retried(info, [&] { multiply(cublas(), step); });
    return collect_values(queue_, step);
  }
  const bool hopper = takes_collect_hopper(queue_.capability, queue_.shared_bytes);
  return hopper ? collect_hopper(queue_, step) : collect_fp16(queue_, step);
}

}  // namespace kith::cuda
