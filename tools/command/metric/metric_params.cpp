#include "command/metric/metric_params.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "command/shared/named_files.hpp"
#include "files/named.hpp"
#include "files/source.hpp"

namespace kith::command {
namespace {

using MetricJson = nlohmann::json;

constexpr std::string_view option_name = "--metric-params",
                           advice = "write it as '{\"V\": [1, 4]}', or @FILE";

/// Returns the names that a metric takes.
std::vector<std::string> names_for(Metric metric) {
  if (takes_column_weights(metric)) return {"w"};
  if (metric == Metric::seuclidean) return {"V"};
  if (metric == Metric::mahalanobis) return {"V", "VI"};
  if (metric == Metric::haversine) return {"degrees"};
  return {};
}

std::string text_of_file(const std::string& path) {
  constexpr std::size_t most = std::size_t{1} << 28;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::array<char, 1 << 16> some{};
  while (text.size() <= most && (file.read(some.data(), some.size()) || file.gcount() > 0))
    text.append(some.data(), static_cast<std::size_t>(file.gcount()));
  if (text.empty() || text.size() > most)
    throw Error(Errc::bad_file, std::string(option_name) + ": " + files::shown_name(path) +
                                    (text.empty() ? ": it cannot be read, or is empty" : ": it is too long") +
                                    "; name a file of JSON");
  return text;
}

MetricJson json_from(const std::string& text) {
  const bool is_file = text.starts_with('@');
  try {
    return MetricJson::parse(is_file ? text_of_file(text.substr(1)) : text);
  } catch (const MetricJson::parse_error& error) {
    throw Error(is_file ? Errc::bad_file : Errc::invalid_argument,
                std::string(option_name) + ": " + (is_file ? files::shown_name(text.substr(1)) + ": " : "") +
                    "no JSON from character " + std::to_string(error.byte) + " on; " + std::string(advice));
  } catch (const MetricJson::exception&) {  // such as a number beyond the largest double
    refuse(std::string(option_name), "a number is too large for a double; scale the columns");
  }
}

/// Appends the numbers of a list. Returns false if it is none.
bool append_numbers(const MetricJson& list, std::vector<double>& to) {
  if (!list.is_array() || list.empty()) return false;
  for (const MetricJson& value : list) {
    if (!value.is_number()) return false;
    to.push_back(value.get<double>());
  }
  return true;
}

/// Returns a list, or the rows of a square matrix one after another.
MetricParam numbers_from(const std::string& name, const MetricJson& value) {
  MetricParam one{name};
  one.is_matrix = value.is_array() && !value.empty() && value.front().is_array();
  bool good = one.is_matrix || append_numbers(value, one.values);
  for (std::size_t i = 0; one.is_matrix && i < value.size(); ++i)
    good = good && append_numbers(value[i], one.values) && one.values.size() == (i + 1) * value.size();
  if (!good || (one.is_matrix && name == "w") || (!one.is_matrix && name == "VI"))
    refuse(std::string(option_name),
           name + " is no " +
               (name == "w" ? "list of numbers; give one a column: {\"w\": [1, 0.5]}"
                : name == "VI"
                    ? "square matrix; give its rows: {\"VI\": [[1, 0], [0, 1]]}"
                    : "list of numbers, nor a square matrix; give {\"V\": [1, 4]} or {\"V\": [[1, 0], "
                      "[0, 1]]}"));
  return one;
}

/// Spreads the values of columns that count over all columns. The others get `rest`, which is not read.
std::vector<double> spread(const MetricParam& given, const std::vector<std::int64_t>& features,
                           std::int64_t columns) {
  if (features.empty()) return given.values;
  std::vector<std::int64_t> ordered = features;
  std::sort(ordered.begin(), ordered.end());
  const auto all = static_cast<std::size_t>(columns);
  std::vector<double> to(given.is_matrix ? all * all : all);
  for (std::size_t i = 0; i < given.values.size(); ++i) {
    const auto column = [&](std::size_t at) { return static_cast<std::size_t>(ordered[at]); };
    to[given.is_matrix ? column(i / ordered.size()) * all + column(i % ordered.size()) : column(i)] =
        given.values[i];
  }
  return to;
}

}  // namespace

std::vector<MetricParam> parse_metric_params(const std::string& text) {
  const MetricJson json = json_from(text);
  if (!json.is_object())
    refuse(std::string(option_name), files::in_quotes(text) + " is no JSON object; " + std::string(advice));
  std::vector<MetricParam> all;
  for (const auto& [name, value] : json.items()) {
    if (name == "degrees") {
      if (!value.is_boolean()) refuse(std::string(option_name), "degrees is neither; give true or false");
      if (value.get<bool>()) all.push_back({name});
    } else if (name == "V" || name == "VI" || name == "w") {
      all.push_back(numbers_from(name, value));
    } else {
      refuse(std::string(option_name),
             "there is no " + files::in_quotes(name) + "; choose from V, VI, w and degrees");
    }
  }
  return all;
}

void add_metric_params_option(CLI::App& app, std::vector<MetricParam>& params) {
  CLI::Option* option = app.add_option_function<std::string>(
      std::string(option_name), [](const std::string&) {},  // a pipe can be read once: check_by() does it
      "What the metric takes, in JSON, or @FILE with it: w of l1, l2, squared_l2; V of seuclidean; V or VI "
      "of "
      "mahalanobis; degrees of haversine. Lists have a number for each column that counts");
  option->type_name("JSON");
  check_by(app, option, std::string(option_name),
           [&params](const std::string& text) { params = parse_metric_params(text); });
  reads_files_in(option, [](const std::vector<std::string>& given) {
    std::vector<std::pair<std::string, std::string>> named;
    for (const std::string& text : given)
      if (text.starts_with('@')) named.emplace_back(option_name, text.substr(1));
    return named;
  });
}

void check_metric_params(const std::string& where, const std::vector<MetricParam>& params, Metric metric) {
  const std::vector<std::string> taken = names_for(metric);
  for (const MetricParam& one : params)
    if (std::find(taken.begin(), taken.end(), one.name) == taken.end())
      refuse(where, std::string(option_name) + ": " + std::string(name(metric)) + " takes " +
                        (taken.empty() ? "nothing" : files::joined(taken)) + ", but there is " + one.name +
                        "; leave it out, or choose another metric");
    else if (one.name == "V" && one.is_matrix != (metric == Metric::mahalanobis))
      refuse(where, std::string(option_name) + ": V of " + std::string(name(metric)) + " is a " +
                        (one.is_matrix ? "list, but there is a matrix; give a number a column"
                                       : "matrix, but there is a list; give a list of its rows"));
}

IndexOptions metric_options_of(const std::string& where, const std::vector<MetricParam>& params,
                               const std::vector<std::int64_t>& features, std::int64_t columns) {
  IndexOptions options;
  const auto counted = features.empty() ? columns : static_cast<std::int64_t>(features.size());
  for (const MetricParam& one : params) {
    if (one.name == "degrees") {
      options.degrees = true;
      continue;
    }
    const std::int64_t most = one.is_matrix ? counted * counted : counted;
    if (static_cast<std::int64_t>(one.values.size()) != most)
      refuse(where, std::string(option_name) + ": " + one.name + " has " + std::to_string(one.values.size()) +
                        (one.values.size() == 1 ? " number" : " numbers") + ", but columns that count are " +
                        std::to_string(counted) + "; give " + std::to_string(most));
    std::vector<double>& to = one.name == "w"    ? options.column_weights
                              : one.name == "VI" ? options.inverse_covariance
                              : one.is_matrix    ? options.covariance
                                                 : options.variances;
    to = spread(one, features, columns);
  }
  return options;
}

}  // namespace kith::command
