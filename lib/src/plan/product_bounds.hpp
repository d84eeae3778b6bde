// Which rows a proposer can bound, and how its quantized rows scale them. docs/certificate.md, sections 2 and
// 6.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/metric.hpp"
#include "kith/plan.hpp"

namespace kith {

/// Whether distances by this metric follow from inner products, with a bound for the error.
bool follows_from_products(Metric metric);

/// An upper bound for the elements of rows of which none is above `largest`, once they are centred.
double largest_centred(float largest, const std::vector<float>& centre);

/// Whether the bound of `proposer` holds for rows whose centred elements reach these magnitudes.
bool within_range(Proposer proposer, std::int64_t dims, double largest_query, double largest_train);

/// What elements up to `largest` are multiplied by in quantized rows: by a power of two for fp16, to become
/// at most 127 for int8. 1 where exponents are those of a float.
float scale_of(Proposer proposer, double largest);

}  // namespace kith
