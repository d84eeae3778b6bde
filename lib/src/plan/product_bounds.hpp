// Decides which rows a proposer can bound, and how its quantized rows are scaled. docs/certificate.md,
// sections 2 and 6.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/metric.hpp"
#include "kith/unstable/plan.hpp"

namespace kith {

/// Returns whether distances by this metric can be computed from inner products, with a bound for the error.
bool follows_from_products(Metric metric);

/// Returns an upper bound for the elements of centred rows, if |element| was at most `largest` before.
double largest_centred(float largest, const std::vector<float>& centre);

/// Returns whether the bound of `proposer` holds for rows whose largest centred elements are these.
bool within_range(Proposer proposer, std::int64_t dims, double largest_query, double largest_train);

/// Returns the factor by which quantized rows are scaled if |element| is at most `largest`: for fp16 a
/// power of two, for int8 one that makes elements at most 127, and 1 for proposers with the exponent range
/// of float.
float scale_of(Proposer proposer, double largest);

}  // namespace kith
