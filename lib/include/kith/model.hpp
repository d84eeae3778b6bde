// A classifier or regressor as one file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kith/classifier.hpp"
#include "kith/export.hpp"
#include "kith/metric.hpp"
#include "kith/preparation.hpp"
#include "kith/regressor.hpp"
#include "kith/save_options.hpp"

namespace kith {

/// All that is needed to answer on any device: rows as they are searched, what they answer, and how queries
/// are prepared. Plain data; devices come in with classifier() and regressor().
struct KITH_API Model {
  Metric metric = default_metric;
  std::int64_t k = 0;  ///< neighbours to ask; 0: the caller decides
  VotingOptions voting;
  Preparation preparation;             ///< for queries; `rows` are prepared already
  std::vector<std::int64_t> features;  ///< columns of prepared rows that count; empty: all
  std::vector<std::string> columns;    ///< names of the columns before preparation; may be empty
  std::int64_t n = 0, dims = 0;
  std::vector<float> rows;  ///< [n, dims], prepared
  std::int64_t outputs = 1;
  std::vector<std::int64_t> labels;      ///< [n, outputs]; empty for a regressor
  std::vector<std::string> label_texts;  ///< where labels are texts: those of codes 0, 1, ...
  std::vector<double> values;            ///< [n, outputs]; empty for a classifier
  std::vector<float> sample_weights;     ///< [n], or empty
  /// [columns before preparation], or empty: the texts of the categories 0, 1, ... of each; of a column of
  /// numbers none.
  std::vector<std::vector<std::string>> category_texts;
  std::vector<std::string> answer_names;  ///< [outputs]: the columns of labels or values in a file, or empty
  std::vector<std::int64_t>
      row_numbers;  ///< [n] ascending: the numbers of the rows in their file; empty: 0, 1, ...
  /// The number of the first column in files of index:value pairs, 0 or 1; -1: the rows come from no such
  /// file.
  std::int64_t first_index = -1;
  /// Columns of the file that nobody reads, and that queries may have or not: their places, from 0,
  /// ascending, among the columns that are no answers.
  std::vector<std::int64_t> unread;
  std::vector<std::string> unread_names;  ///< [unread], or empty where `columns` are

  /// Throws invalid_argument: parts that do not fit together, or the model holds the other kind of answers;
  ///                          and as the constructors do.
  Classifier classifier(Device device) const;
  Regressor regressor(Device device) const;
};

/// Write a model. The file appears whole or not at all, and is the same on every machine: little-endian, its
/// version first, a checksum last. docs/contract.md, section 10.
/// Throws invalid_argument: parts that do not fit together (says which).
///        bad_file:         it cannot be written (says why).
///        interrupted:      options.stop asked for it before the file was in its place.
KITH_API void save(const Model& model, const std::string& path, const SaveOptions& options = {});

/// Read a model.
/// Throws bad_file: missing, foreign, of another version, damaged, or with parts that do not fit together
///                  (says which, and at which byte). Nothing is allocated for sizes that the file is too
///                  short for.
KITH_API Model load_model(const std::string& path);

}  // namespace kith
