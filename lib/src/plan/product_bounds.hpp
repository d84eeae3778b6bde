// Says which rows a proposer can bound, and how its quantized rows are scaled. docs/certificate.md, sections
// 2 and 6.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/metric.hpp"
#include "kith/unstable/plan.hpp"

namespace kith {

/// Returns whether distances by this metric follow from inner products, with a bound for the error.
bool follows_from_products(Metric metric);

/// Returns an upper bound for the elements of centred rows, whose elements were at most `largest` before.
double largest_centred(float largest, const std::vector<float>& centre);

/// Returns whether the bound of `proposer` holds for rows whose centred elements reach these magnitudes.
bool within_range(Proposer proposer, std::int64_t dims, double largest_query, double largest_train);

/// Returns the factor by which quantized rows are scaled if elements are at most `largest`: a power of two
/// for fp16; for int8 one that makes them at most 127; 1 for proposers with the exponents of float.
float scale_of(Proposer proposer, double largest);

}  // namespace kith
