#include "model/model_metric.hpp"

#include <iterator>
#include <string_view>

#include "base/refuse.hpp"
#include "base/text.hpp"
#include "rows/prepared/prepared_metric.hpp"

namespace kith {
namespace {

constexpr std::string_view power = "p", categorical = "categorical", degrees = "degrees";

/// Returns numbers of columns as whole doubles.
std::vector<double> as_doubles(const std::vector<std::int64_t>& columns) {
  return {columns.begin(), columns.end()};
}

/// Returns columns by their numbers in a file; others are refused when an Index is made.
std::vector<std::int64_t> as_columns(const std::vector<double>& values) {
  std::vector<std::int64_t> columns;
  for (const double value : values)
    columns.push_back(value >= 0 && value < 0x1p53 ? static_cast<std::int64_t>(value) : -1);
  return columns;
}

}  // namespace

RowsView rows_of(const Model& model) {
  if (model.arithmetic == Arithmetic::f64)
    return RowsView(model.rows64.data(), Element::f64, model.n, model.dims);
  return RowsView(model.rows.data(), model.n, model.dims);
}

IndexOptions index_options_of(const Model& model) {
  const IndexOptions& given = model.metric_options;
  IndexOptions options{.features = model.features};
  for (const MetricParameter& one : metric_parameters)
    if (one.asked) options.*one.asked = given.*one.asked;
  options.p = given.p;
  options.categorical = given.categorical;
  options.degrees = given.degrees;
  return options;
}

ModelParameters parameters_of(const Model& model) {
  const IndexOptions& given = model.metric_options;
  ModelParameters parameters;
  for (const MetricParameter& one : metric_parameters)
    if (one.asked && !(given.*one.asked).empty())
      parameters.push_back({std::string(one.name), given.*one.asked});
  if (given.p != 0) parameters.push_back({std::string(power), {given.p}});
  if (!given.categorical.empty())
    parameters.push_back({std::string(categorical), as_doubles(given.categorical)});
  if (given.degrees) parameters.push_back({std::string(degrees), {}});
  return parameters;
}

IndexOptions metric_options_of(const ModelParameters& parameters) {
  IndexOptions options;
  auto next = parameters.begin();
  const auto is_next = [&](std::string_view name) { return next != parameters.end() && next->name == name; };
  for (const MetricParameter& one : metric_parameters)
    if (one.asked && is_next(one.name) && !next->values.empty()) options.*one.asked = (next++)->values;
  if (is_next(power) && next->values.size() == 1) options.p = (next++)->values[0];
  if (is_next(categorical) && !next->values.empty()) options.categorical = as_columns((next++)->values);
  if (is_next(degrees) && next->values.empty()) options.degrees = true, ++next;
  if (parameters.empty()) refuse("model", "it says nothing of what the metric takes; save the model again");
  if (next != parameters.end())
    refuse("model",
           "\"" + escaped(next->name) + "\" with " + std::to_string(next->values.size()) +
               " values is nothing that a metric takes, or is not in its place; save the model again");
  return options;
}

}  // namespace kith
