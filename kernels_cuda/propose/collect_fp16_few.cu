// collect, fp16, of up to 64 queries: collect_few.cuh with sums of products of 16-bit floats.
#include "prepare/prepare_fp16.hpp"
#include "propose/collect_few.cuh"

namespace kith::cuda {
namespace {

/// At least the relative error of the product. A step of 16 dimensions adds them eight at a time, and the sum
/// so far; pieces lie across steps, so that few dimensions may come in more eights than they would fill.
double error_of_few(std::uint32_t dims) {
  const double eights = dims <= 16 ? 2 : 4 * divide_up(dims, 32u);
  const double errors = static_cast<double>(half_terms(dims)) + 3 * eights;
  return std::max(product_error_fp16(dims), errors * 0x1p-24 * half_excess(dims));
}

}  // namespace

cudaError_t collect_fp16_few(const Queue& queue, const spi::CollectStep& step) {
  const std::uint32_t dims = count_of(step.train.rows.cols);
  return launch_few<float>(queue, collection_of(step), bound_of(step, error_of_few(dims)), half_shape(dims));
}

}  // namespace kith::cuda
