// collect, by products of quantized rows: collect_products.cpp.
#pragma once

#include "cpu/steps/steps.hpp"

namespace kith::cpu {

/// Of a step whose proposer is neither none nor gemm.
spi::Support check_products(const spi::CollectStep& step, const Resources& with);
void collect_products(const spi::CollectStep& step, const Resources& with);

}  // namespace kith::cpu
