// Rounds rows of doubles to the floats that propose for them, and measures by how much: docs/certificate.md,
// section 7.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/floats.hpp"
#include "kith/metric.hpp"
#include "rows/doubles/prepared_doubles.hpp"
#include "rows/landed/column_terms.hpp"

namespace kith {

/// How a row x of doubles becomes a row x~ of floats: (x - centre) * scale, each element rounded to float
/// once. Any centre and any power of two are right; good ones make x~ near.
struct Rounding {
  std::vector<double> centre;  ///< [dims]; empty: nothing is subtracted
  double scale = 1;            ///< a power of two
  /// [dims] of a periodic box, times `scale`, +infinity for open columns; empty: there is none. The others
  /// have the centre 0.
  std::vector<double> lengths = {};
  /// [dims], parameters of mixed terms; empty: there are none. Else nothing is subtracted, and the scale
  /// is 1.
  std::vector<double> mixed = {};

  /// Returns the lengths of the box in which the floats are, 0 for open columns.
  std::vector<double> lengths_of_floats() const;
};

/// Chooses a rounding by the training rows. Without any error are rows that are floats already, and whole
/// numbers of a common size.
class RoundingChoice {
 public:
  ///   terms  in the place of differences; null: there are none
  RoundingChoice(Metric metric, std::int64_t rows, std::int64_t dims, const ColumnTerms* terms = nullptr);
  /// Looks at some of the rows; all must be added, in their order.
  void add(const PreparedDoubles& some);
  Rounding rounding();

 private:
  bool is_open(std::size_t column) const { return lengths_.empty() || std::isinf(lengths_[column]); }
  double centre_of_column(std::size_t column);

  const Metric metric_;
  const std::size_t dims_;
  const std::int64_t stride_;  ///< of rows in the sample
  std::int64_t added_ = 0;
  bool are_floats_ = true;
  double largest_ = 0;
  std::vector<double> least_, most_;   ///< [dims]
  std::vector<double> sample_;         ///< [rows of the sample, dims]
  const std::vector<double> lengths_;  ///< of a periodic box
  const std::vector<double> mixed_;
};

/// Chooses one for queries: for negative_dot, whose queries have a scale of their own; else that of the rows.
Rounding rounding_of_queries(Metric metric, const PreparedDoubles& queries, const Rounding& of_rows);

/// Bounds of one row, or of all, in the norm of the metric: Euclidean, and the sum or the largest of
/// magnitudes for l1 and linf. Of mixed terms it is what a distance changes by at most.
struct RowErrors {
  double residual = 0;  ///< at least |(x - centre) * scale - x~|; infinite if x~ cannot be a row of floats.
                        ///< In a periodic box also half of what else its term may differ by
  double norm = 0;      ///< at least |x~|; infinite by terms, where it bounds no distance

  /// Raises both to at least those of `other`.
  void include(const RowErrors& other);
};

/// Rows of floats near rows of doubles.
struct RoundedRows {
  Floats values;                  ///< [rows, dims]; 0 in rows whose residual is infinite
  std::vector<RowErrors> errors;  ///< [rows]
};

RoundedRows round_rows(Metric metric, const PreparedDoubles& rows, const Rounding& how,
                       std::uint32_t threads);

/// Returns the largest errors of all rows.
RowErrors largest_errors(std::span<const RowErrors> errors);

}  // namespace kith
