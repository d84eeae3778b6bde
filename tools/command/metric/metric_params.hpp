// What a metric takes, named as in Python, with values for the columns that count:
// `--metric-params '{"V": [1, 4]}'`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/shared/command.hpp"
#include "kith/options.hpp"

namespace kith::command {

/// A parameter of the metric.
struct MetricParam {
  std::string name;  ///< V, VI, w, p, categorical, ranges or degrees
  /// Of the columns that count, or of pairs of these, row by row. Of p: the power; of categorical: places
  /// among the columns that count; of degrees: 1 or 0.
  std::vector<double> values = {};
  bool is_matrix = false;
};

/// Adds --metric-params.
void add_metric_params_option(CLI::App& app, std::vector<MetricParam>& params);

/// Parses what a metric takes, as JSON or as @FILE, which holds JSON.
/// Throws invalid_argument: no JSON, another name, one that stands twice, or a value of another kind than its
///                          name needs. bad_file: the file cannot be read, or holds no JSON.
std::vector<MetricParam> parse_metric_params(const std::string& text);

/// Refuses parameters that the metric does not take, and minkowski without p.
void check_metric_params(const std::string& where, const std::vector<MetricParam>& params, Metric metric);

/// Returns the options of an Index that hold the parameters, and nothing else.
///   features  columns that count; empty: all
///   columns   of the rows
/// Throws invalid_argument: there are more or fewer values than columns that count, or categorical names none
/// of these, or one twice.
IndexOptions metric_options_of(const std::string& where, const std::vector<MetricParam>& params,
                               const std::vector<std::int64_t>& features, std::int64_t columns);

}  // namespace kith::command
