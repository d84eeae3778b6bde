// Saves a classifier or regressor as one file, and loads it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kith/choices.hpp"
#include "kith/classifier.hpp"
#include "kith/export.hpp"
#include "kith/metric.hpp"
#include "kith/preparation.hpp"
#include "kith/regressor.hpp"
#include "kith/save_options.hpp"

namespace kith {

/// Holds everything that is needed to answer on any device: rows as they are searched, their labels or
/// values, and the preparation of queries. classifier() and regressor() copy it to a device.
struct KITH_API Model {
  Metric metric = default_metric;
  std::int64_t k = 0;  ///< neighbours to search; 0: the caller decides
  VotingOptions voting;
  Preparation preparation;             ///< for queries; `rows` are already prepared
  std::vector<std::int64_t> features;  ///< columns of prepared rows that count; empty: all
  std::vector<std::string> columns;    ///< names of the columns before preparation; may be empty
  std::int64_t n = 0, dims = 0;
  std::vector<float> rows;  ///< [n, dims], prepared
  std::int64_t outputs = 1;
  std::vector<std::int64_t> labels;      ///< [n, outputs]; empty for a regressor
  std::vector<std::string> label_texts;  ///< if labels are texts: those of codes 0, 1, ...
  std::vector<double> values;            ///< [n, outputs]; empty for a classifier
  std::vector<float> sample_weights;     ///< [n], or empty
  /// [columns before preparation], or empty: the texts of the categories 0, 1, ... of each column; a column
  /// of numbers has none.
  std::vector<std::vector<std::string>> category_texts;
  std::vector<std::string> answer_names;  ///< [outputs], or empty: the columns of labels or values in a file
  /// [n] ascending: the numbers of the rows in their file; empty: 0, 1, ...
  std::vector<std::int64_t> row_numbers;
  /// The number of the first column in files of index:value pairs, 0 or 1; -1 if the rows come from no
  /// such file.
  std::int64_t first_index = -1;
  /// Columns of the file that are not used, and that queries may lack: their indices from 0, ascending, among
  /// the columns that are no answers.
  std::vector<std::int64_t> unread;
  std::vector<std::string> unread_names;  ///< [unread], or empty if `columns` are
  /// f32, or f64: then the rows are in `rows64`, and there is no preparation, which would make floats.
  Arithmetic arithmetic = Arithmetic::f32;
  std::vector<double> rows64 = {};  ///< [n, dims], in place of `rows`
  /// What the metric takes: column_weights, variances, covariance, inverse_covariance, ranges, p, categorical
  /// and degrees. Nothing else of it is kept.
  IndexOptions metric_options = {};

  /// Throw invalid_argument: parts do not fit together, or the model holds answers of the other kind; and as
  /// the constructors do.
  Classifier classifier(Device device) const;
  Regressor regressor(Device device) const;
};

/// Writes a model. The file appears complete or not at all, and is the same on every machine: little-endian,
/// with its version first and a checksum last. docs/contract.md, section 10.
/// Throws invalid_argument: parts do not fit together (says which).
///        bad_file:         the file cannot be written (says why).
///        interrupted:      options.stop asked for it before the file was in its place.
KITH_API void save(const Model& model, const std::string& path, const SaveOptions& options = {});

/// Reads a model.
/// Throws bad_file: the file is missing, foreign, of another version, damaged, or has parts that do not fit
///                  together (says which, and at which byte). No memory is allocated for sizes that exceed
///                  the file.
KITH_API Model load_model(const std::string& path);

}  // namespace kith
