// Prepares rows before they are searched: fills in missing values, turns categories into columns, and scales
// columns. It is fitted once on the training rows, on the host, in double precision, so that every device
// sees the same floats; each value is rounded once, at the end. docs/contract.md, section 3.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kith/export.hpp"
#include "kith/matrix_view.hpp"
#include "kith/options.hpp"

namespace kith {

KITH_API std::string_view name(Missing missing);
KITH_API std::string_view name(Scaling scaling);
KITH_API std::string_view name(Categories categories);

/// Return the numbers of the rows without a NaN, ascending.
KITH_API std::vector<std::int64_t> complete_rows(MatrixView<const float> rows);
KITH_API std::vector<std::int64_t> complete_rows(MatrixView<const double> rows);

/// Learns from training rows how to prepare rows, and prepares these and queries in the same way.
class KITH_API Preparation {
 public:
  Preparation() = default;  ///< changes nothing
  /// Learns from training rows. Each scaling learns from the result of the one before it, in
  /// double precision.
  ///   train  [n, dims]  at least one row and column; finite, or NaN if options.missing fills it; categories
  ///          are whole numbers >= 0 and below 2^24
  /// Throws invalid_argument: a column that does not exist or is named twice, a value that is not allowed
  ///                          (names its place), a column to be filled that has no value.
  Preparation(MatrixView<const float> train, const PreparationOptions& options);
  Preparation(MatrixView<const double> train, const PreparationOptions& options);

  /// Returns rows as they are searched, each value rounded once to float. With one_hot, a category that no
  /// training row has becomes all zeros.
  ///   rows     [m, dims]
  ///   returns  [m, width()]
  /// Throws invalid_argument: another number of columns, a value that is not finite or is no category where
  ///                          it should be, or one that becomes too large for a float (names its place).
  std::vector<float> apply(MatrixView<const float> rows) const;
  std::vector<float> apply(MatrixView<const double> rows) const;

  bool changes_nothing() const;                  ///< apply() returns its argument after its checks
  std::int64_t dims() const { return dims_; }    ///< columns it takes; 0: any
  std::int64_t width() const { return width_; }  ///< columns it makes
  const PreparationOptions& options() const { return options_; }  ///< with columns ascending
  /// Returns, for each column it makes, the column it comes from.
  std::vector<std::int64_t> sources() const;

  /// Holds a scaling of all columns: (x - shift) / divisor. save() of model.hpp writes it.
  struct Columns {
    std::vector<double> shift, divisor;
    bool operator==(const Columns&) const = default;
  };
  struct Learned {
    std::int64_t dims = 0;
    PreparationOptions options;
    std::vector<std::vector<std::int64_t>> categories;  ///< for each column of one_hot, ascending
    std::vector<Columns> columns;                       ///< for each scaling; empty for l2_rows
    std::vector<double> fills;  ///< [dims] replaces NaN; empty if options.missing fills nothing
  };
  /// Restores a preparation, for example from a model file. Throws invalid_argument: parts that do not
  /// fit together.
  explicit Preparation(Learned learned);
  Learned learned() const;

 private:
  template <class T>
  void learn(MatrixView<const T> train);
  template <class T>
  std::vector<float> applied(MatrixView<const T> rows) const;

  std::int64_t dims_ = 0, width_ = 0;
  PreparationOptions options_;
  std::vector<std::vector<std::int64_t>> categories_;
  std::vector<Columns> columns_;
  std::vector<double> fills_;
};

}  // namespace kith
