// collect, fp16, of up to 24 dimensions, with the test as part of the product: collect_fused_test.cu.
// No twin in kernels_cl: kernels of OpenCL are launched by their names.
#pragma once

#include "prepare/prepare_fp16.hpp"
#include "propose/collect.hpp"

namespace kith::cuda {

std::size_t collect_fp16_fused_test_scratch(const spi::CollectStep& step);
cudaError_t collect_fp16_fused_test(const Queue& queue, const spi::CollectStep& step);

}  // namespace kith::cuda
