// Which rows a proposer can bound, and how far its products may be off. docs/certificate.md, section 3.
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

/// How far a product may be from the exact product of shadows, per unit of their norms: b of
/// docs/certificate.md, section 3, of the kernels for many queries and columns.
double product_bound(Proposer proposer, std::int64_t dims);

/// The largest b of the kernels of a proposer: those of fp16 for few queries and for few columns add
/// in orders of their own.
double largest_product_bound(Proposer proposer, std::int64_t dims);

/// What elements up to `largest` are multiplied by in a shadow: by a power of two for fp16, to become at most
/// 127 for int8. 1 where exponents are those of a float.
float scale_of(Proposer proposer, double largest);

}  // namespace kith
