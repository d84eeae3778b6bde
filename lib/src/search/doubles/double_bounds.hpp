// Says which floats can belong to near doubles: docs/certificate.md, section 7.
#pragma once

#include <cstdint>

#include "kith/metric.hpp"
#include "rows/doubles/rounded_rows.hpp"

namespace kith {

/// Bounds the chains of floats by those of doubles, for the rows of an Index and one query.
class DoubleBounds {
 public:
  ///   rows, queries  how they are rounded
  ///   errors         of all rows
  DoubleBounds(Metric metric, std::int64_t dims, const Rounding& rows, const Rounding& queries,
               const RowErrors& errors);

  /// Returns a number that the chain of floats exceeds for no row whose chain of doubles is at most `value`.
  ///   query  its errors
  float above(double value, const RowErrors& query) const;

 private:
  double of_product(double value, const RowErrors& query) const;
  double of_norm(double value, const RowErrors& query) const;
  /// Returns at least the residual of each row within `distance` of the query.
  double residual_near(const RowErrors& query, double distance) const;

  const Metric metric_;
  const double dims_, row_scale_, query_scale_;
  const double root_;  ///< the power, above 1, whose sums obey the triangle inequality by their root; else 1
  const RowErrors errors_;
  const double g_, eta_;                ///< of a chain of floats
  const double g_double_, eta_double_;  ///< of a chain of doubles
};

}  // namespace kith
