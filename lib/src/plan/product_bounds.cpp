#include "plan/product_bounds.hpp"

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "kith/spi.hpp"

namespace kith {

bool follows_from_products(Metric metric) {
  switch (metric) {
    case Metric::squared_l2:
    case Metric::l2:
    case Metric::negative_dot:
    case Metric::cosine:
      return true;
    default:
      return false;
  }
}

double largest_centred(float largest, const std::vector<float>& centre) {
  double shift = 0;
  for (const float c : centre) shift = std::max(shift, std::fabs(static_cast<double>(c)));
  return static_cast<double>(largest) + shift;
}

bool within_range(Proposer proposer, std::int64_t dims, double largest_query, double largest_train) {
  const double most = std::max(largest_query, largest_train);
  const bool finite = 4 * static_cast<double>(dims) * most * most <= 0x1p100;
  if (proposer != Proposer::fp16 && proposer != Proposer::int8) return finite;
  // So that the scales, and one over their product, are ordinary floats.
  return finite && std::min(largest_query, largest_train) >= 0x1p-40;
}

double product_bound(Proposer proposer, std::int64_t dims) {
  constexpr double u = 0x1p-24;
  if (proposer == Proposer::fp16) {
    const double eights = std::ceil(static_cast<double>(spi::half_terms(size(dims))) / 8);
    return 12 * eights * u * (dims <= spi::most_split_dims ? 1 + 0x1p-8 : 1 + 0x1p-10);
  }
  if (proposer == Proposer::int8) return 4 * u;
  const double steps = static_cast<double>(dims + 2) * u;
  return steps / (1 - steps);
}

double largest_product_bound(Proposer proposer, std::int64_t dims) {
  const double many = product_bound(proposer, dims);
  if (proposer != Proposer::fp16) return many;
  constexpr double u = 0x1p-24, least_excess = 1 + 0x1p-10, excess = 1 + 0x1p-8;
  constexpr std::int64_t most_folded_dims = 24, folded_columns = 4;
  const bool split = dims <= spi::most_split_dims;
  const auto terms = static_cast<double>(spi::half_terms(size(dims)));
  // A step of 16 columns adds eights; pieces of the rows of few queries lie across such steps.
  const double eights = dims <= 16 ? 2 : 4 * std::ceil(static_cast<double>(dims) / 32);
  const double few = (terms + 3 * eights) * u * (split ? excess : least_excess);
  const double folded =
      dims <= most_folded_dims ? 24 * std::ceil((terms + folded_columns) / 16) * u * excess : 0;
  return std::max({many, few, folded});
}

float scale_of(Proposer proposer, double largest) {
  if (proposer == Proposer::int8) {
    constexpr double most = 127, least_reach = 0x1p-50;
    return static_cast<float>(most / std::max(largest, least_reach));
  }
  if (proposer != Proposer::fp16) return 1;
  int exponent = 0;
  std::frexp(largest, &exponent);  // largest < 2^exponent
  return std::ldexp(1.0f, 13 - exponent);
}

}  // namespace kith
