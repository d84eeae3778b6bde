#include "plan/product_bounds.hpp"

#include <algorithm>
#include <cmath>

#include "kith/spi.hpp"

namespace kith {

bool follows_from_products(Metric metric) {
  return sums_squares(metric) || metric == Metric::negative_dot;
}

double largest_centred(float largest, const std::vector<float>& centre) {
  double shift = 0;
  for (const float c : centre) shift = std::max(shift, std::fabs(static_cast<double>(c)));
  return static_cast<double>(largest) + shift;
}

bool within_range(Proposer proposer, std::int64_t dims, double largest_query, double largest_train) {
  const double most = std::max(largest_query, largest_train);
  const bool finite = 4 * static_cast<double>(dims) * most * most <= 0x1p100;
  if (!spi::is_scaled(proposer)) return finite;
  // The scales, and the reciprocal of their product, must be normal floats.
  return finite && std::min(largest_query, largest_train) >= 0x1p-40;
}

float scale_of(Proposer proposer, double largest) {
  if (spi::multiplies_bytes(proposer)) {
    constexpr double least_clip_range = 0x1p-50;
    const int most =
        proposer == Proposer::int8 ? spi::most_on_grid : spi::most_half_byte * spi::half_byte_unit;
    return static_cast<float>(most / std::max(largest, least_clip_range));
  }
  if (proposer != Proposer::fp16) return 1;
  int exponent = 0;
  std::frexp(largest, &exponent);  // largest < 2^exponent
  return std::ldexp(1.0f, 13 - exponent);
}

}  // namespace kith
