// The launcher of collect, fp16, for up to 24 dimensions, with the test as part of the
// product: collect_fused_test.cu.
#pragma once

#include "prepare/prepare_fp16.hpp"
#include "propose/collect.hpp"

namespace kith::cuda {

std::size_t collect_fp16_fused_test_scratch(const spi::CollectStep& step);
cudaError_t collect_fp16_fused_test(const Queue& queue, const spi::CollectStep& step);

}  // namespace kith::cuda
