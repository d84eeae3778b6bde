// How quantized rows of 16-bit floats store numbers: docs/certificate.md, section 2.
#pragma once

#include "kith/spi/product_error.hpp"
#include "prepare/half_shape.hpp"

namespace kith::cuda {

// With up to spi::most_split_dims dimensions a number v is split into high = half(v) and low = half(v -
// high), and takes four columns: high, low, high, low in a training row; high, high, low, low in a query.
// The product of two such lines is therefore the product of the sums of both parts, in a single step of
// 16 columns.
using spi::half_terms;
using spi::most_split_dims;

}  // namespace kith::cuda
