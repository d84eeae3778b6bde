#include <algorithm>

#include "propose/fused_test.hpp"
#include "propose/int8.hpp"
#include "steps/steps.hpp"

namespace kith::cuda {
namespace {

/// The inner products of the quantized rows, into `values`.
void multiply(Cublas& cublas, const spi::CollectStep& step) {
  const auto operand = [](const spi::Grid<float>& rows) {
    const Matrix<const float> matrix = input_of(rows);
    return ProductOperand{matrix.data, rows.rows, matrix.stride};
  };
  const Matrix<float> out = matrix_of(step.values);
  cublas.multiply(operand(step.queries.rows), operand(step.train.rows), step.train.rows.cols, out.data,
                  out.stride);
}

/// Why tensor cores cannot take a step; empty when they can.
std::string refusal_of_products_there(const spi::CollectStep& step, const Queue& queue) {
  const std::string what = "proposer " + std::string(name(step.proposer));
  if (const std::string why = refusal_of_tensor_cores(queue.capability, queue.shared_bytes); !why.empty())
    return what + " " + why + "; choose gemm or none";
  if (step.train.rows.first % spi::quantized_block_rows != 0 ||
      step.queries.rows.first % spi::quantized_block_rows != 0)
    return "quantized rows of " + what + " begin at a multiple of " +
           std::to_string(spi::quantized_block_rows) + " rows";
  if (step.visits.rows % spi::quantized_block_rows != 0)
    return "visits are of a multiple of " + std::to_string(spi::quantized_block_rows) + " rows";
  if (step.proposer != Proposer::int8) return "";
  if (step.train.rows.cols > spi::most_dims_int8)
    return what + " is for up to " + std::to_string(spi::most_dims_int8) + " columns, and there are " +
           std::to_string(step.train.rows.cols) + "; choose fp16";
  if (step.values.rows > spi::small_batch && !takes_collect_hopper(queue.capability, queue.shared_bytes))
    return what + " is for up to " + std::to_string(spi::small_batch) + " queries a step, and there are " +
           std::to_string(step.values.rows) + "; choose fp16";
  return "";
}

/// A sample takes the kernels of tensor cores, which know the bounds of what they list.
std::string refusal_of_sample(const spi::CollectStep& step) {
  if (step.sample.cols == 0) return "";
  if (!on_tensor_cores(step.proposer) || step.visits.rows == 0 || step.bounds.low.cols == 0)
    return "samples are of visits, by proposers fp16 and int8, with bounds";
  const std::size_t groups = places_of(step) / spi::sample_rows;
  if (step.sample.cols == groups) return "";
  return "a sample of these visits has " + std::to_string(groups) + " columns, not " +
         std::to_string(step.sample.cols);
}

/// Of a product in memory the place of a column is all there is to know.
std::string refusal_of_bounds(const spi::CollectStep& step) {
  if (on_tensor_cores(step.proposer) || (step.bounds.low.cols == 0 && step.visits.rows == 0)) return "";
  return "proposer " + std::string(name(step.proposer)) +
         " lists candidates without bounds, in the order of their rows";
}

}  // namespace

std::string refusal_of_products(Proposer proposer, Metric metric, std::size_t dims) {
  if (!sums_squares(metric) && metric != Metric::negative_dot)
    return "metric " + std::string(name(metric)) +
           " does not follow from inner products; choose proposer none";
  const bool halves = proposer == Proposer::fp16;
  const std::size_t most_dims = halves ? spi::most_dims : product_max_dims;
  if (dims > most_dims)
    return "the bound of proposer " + std::string(name(proposer)) + " holds for at most " +
           std::to_string(most_dims) + " columns, but these are " + std::to_string(dims) +
           "; choose proposer " + (halves ? "gemm or none" : "none");
  return "";
}

spi::Support Device::check(const spi::CollectStep& step) const {
  if (step.proposer == Proposer::none) return {refusal_of_bounds(step), 0};
  const bool gemm = step.proposer == Proposer::gemm;
  if (!gemm && !on_tensor_cores(step.proposer))
    return {"it has no proposer " + std::string(name(step.proposer)) + "; choose none, gemm, fp16 or int8",
            0};
  std::string refusal = refusal_of_products(step.proposer, step.metric, step.train.rows.cols);
  if (refusal.empty()) refusal = refusal_of_bounds(step);
  if (refusal.empty()) refusal = refusal_of_sample(step);
  if (refusal.empty()) refusal = spi::refusal_of_error(step);
  if (refusal.empty()) refusal = gemm ? Cublas::refusal() : refusal_of_products_there(step, queue_);
  if (!refusal.empty()) return {refusal, 0};
  if (step.proposer == Proposer::int8 && step.values.rows <= spi::small_batch) return {};
  if (gemm) try {
      cublas();                     // so that nothing is opened or allocated in a search
    } catch (const Error& error) {  // what may pass is no refusal: those are remembered
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
      if (step.values.rows <= spi::small_batch) return collect_int8(queue_, step);
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
