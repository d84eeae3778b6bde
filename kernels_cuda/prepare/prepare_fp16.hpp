// How numbers are kept in quantized rows of 16-bit floats: docs/certificate.md, section 2.
#pragma once

#include "kith/spi/product_error.hpp"
#include "prepare/half_shape.hpp"

namespace kith::cuda {

// Of up to spi::most_split_dims dimensions a number is split, high = half(v), low = half(v - high), and has
// four columns: high, low, high, low of a training row, high, high, low, low of a query. So the product of
// the lines is that of the sums of both parts, and all of it is one step of 16 columns.
using spi::half_terms;
using spi::most_split_dims;

}  // namespace kith::cuda
