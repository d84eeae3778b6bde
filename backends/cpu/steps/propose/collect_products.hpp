// collect, by products of quantized rows: collect_products.cpp.
#pragma once

#include "cpu/steps/steps.hpp"

namespace kith::cpu {

/// The step must have a proposer other than none and gemm.
spi::Support check_products(const spi::CollectStep& step, const Resources& with);
void collect_products(const spi::CollectStep& step, const Resources& with);

}  // namespace kith::cpu
