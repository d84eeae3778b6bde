#include "command/metric/metric_params.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
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
  if (metric == Metric::minkowski) return {"p", "w"};
  if (takes_categories(metric)) return {"categorical", "ranges"};
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

/// Parses JSON. Refuses a name that stands twice: the parser would keep the last.
MetricJson parse_named_once(const std::string& text) {
  std::set<std::string> names;
  return MetricJson::parse(text, [&](int depth, MetricJson::parse_event_t event, MetricJson& parsed) {
    if (depth == 1 && event == MetricJson::parse_event_t::key) {
      const auto& name = parsed.get_ref<const std::string&>();
      if (!names.insert(name).second)
        refuse(std::string(option_name), files::in_quotes(name) + " stands twice; name it once");
    }
    return true;
  });
}

MetricJson json_from(const std::string& text) {
  const bool is_file = text.starts_with('@');
  try {
    return parse_named_once(is_file ? text_of_file(text.substr(1)) : text);
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
  const bool is_list = name == "w" || name == "ranges";
  if (!good || (one.is_matrix && is_list) || (!one.is_matrix && name == "VI"))
    refuse(std::string(option_name),
           name + " is no " +
               (is_list ? "list of numbers; give one a column: {\"" + name + "\": [1, 0.5]}"
                : name == "VI"
                    ? "square matrix; give its rows: {\"VI\": [[1, 0], [0, 1]]}"
                    : "list of numbers, nor a square matrix; give {\"V\": [1, 4]} or {\"V\": [[1, 0], "
                      "[0, 1]]}"));
  return one;
}

/// Returns a power: a number above 0, or "inf".
MetricParam power_from(const MetricJson& value) {
  if (value == "inf") return {"p", {std::numeric_limits<double>::infinity()}};
  if (!value.is_number() || !(value.get<double>() > 0))
    refuse(std::string(option_name),
           "p is neither a number above 0 nor \"inf\"; give {\"p\": 3} or {\"p\": \"inf\"}");
  return {"p", {value.get<double>()}};
}

/// Returns a list of whole numbers, which may be empty.
MetricParam categorical_from(const MetricJson& value) {
  constexpr std::uint64_t end = std::uint64_t{1} << 53;  // a double holds all before it
  MetricParam one{"categorical"};
  bool good = value.is_array();
  for (std::size_t i = 0; good && i < value.size(); ++i) {
    good = value[i].is_number_unsigned() && value[i].get<std::uint64_t>() < end;
    if (good) one.values.push_back(value[i].get<double>());
  }
  if (!good)
    refuse(std::string(option_name),
           "categorical is no list of columns; number them from 0: {\"categorical\": [1]}");
  return one;
}

MetricParam degrees_from(const MetricJson& value) {
  if (!value.is_boolean()) refuse(std::string(option_name), "degrees is neither; give true or false");
  return {"degrees", {value.get<bool>() ? 1.0 : 0.0}};
}

/// Returns features in the order of columns; all if they are empty.
std::vector<std::int64_t> counted_in_order(const std::vector<std::int64_t>& features, std::int64_t columns) {
  std::vector<std::int64_t> ordered = features;
  if (features.empty()) {
    ordered.resize(static_cast<std::size_t>(columns));
    std::iota(ordered.begin(), ordered.end(), 0);
  }
  std::sort(ordered.begin(), ordered.end());
  return ordered;
}

/// Spreads the values of columns that count over all columns. The others get `rest`, which is not read.
std::vector<double> spread(const MetricParam& given, const std::vector<std::int64_t>& ordered,
                           std::int64_t columns) {
  const auto all = static_cast<std::size_t>(columns);
  std::vector<double> to(given.is_matrix ? all * all : all);
  for (std::size_t i = 0; i < given.values.size(); ++i) {
    const auto column = [&](std::size_t at) { return static_cast<std::size_t>(ordered[at]); };
    to[given.is_matrix ? column(i / ordered.size()) * all + column(i % ordered.size()) : column(i)] =
        given.values[i];
  }
  return to;
}

/// Returns the columns of rows that hold categories, from places among those that count.
std::vector<std::int64_t> named_columns(const std::string& where, const MetricParam& categorical,
                                        const std::vector<std::int64_t>& ordered) {
  std::vector<std::int64_t> named;
  for (const double place : categorical.values) {
    const bool known = place < static_cast<double>(ordered.size());
    const std::int64_t column = known ? ordered[static_cast<std::size_t>(place)] : 0;
    if (!known || std::find(named.begin(), named.end(), column) != named.end())
      refuse(where, std::string(option_name) + ": categorical names column " +
                        std::to_string(static_cast<std::int64_t>(place)) +
                        (known ? " twice; name each once"
                               : ", but columns that count are " + std::to_string(ordered.size()) +
                                     "; number them from 0 to " + std::to_string(ordered.size() - 1)));
    named.push_back(column);
  }
  return named;
}

void check_has_one_a_column(const std::string& where, const MetricParam& one, std::size_t counted) {
  const std::size_t most = one.is_matrix ? counted * counted : counted;
  if (one.values.size() == most) return;
  refuse(where, std::string(option_name) + ": " + one.name + " has " + std::to_string(one.values.size()) +
                    (one.values.size() == 1 ? " number" : " numbers") + ", but columns that count are " +
                    std::to_string(counted) + "; give " + std::to_string(most));
}

/// Returns the list of an Index that a list of numbers becomes.
std::vector<double> IndexOptions::*list_for(const MetricParam& one) {
  if (one.name == "w") return &IndexOptions::column_weights;
  if (one.name == "ranges") return &IndexOptions::ranges;
  if (one.name == "VI") return &IndexOptions::inverse_covariance;
  return one.is_matrix ? &IndexOptions::covariance : &IndexOptions::variances;
}

/// Parses the value of a parameter.
MetricParam param_from(const std::string& name, const MetricJson& value) {
  if (name == "degrees") return degrees_from(value);
  if (name == "p") return power_from(value);
  if (name == "categorical") return categorical_from(value);
  if (name == "V" || name == "VI" || name == "w" || name == "ranges") return numbers_from(name, value);
  refuse(std::string(option_name), "there is no " + files::in_quotes(name) +
                                       "; choose from V, VI, w, p, categorical, ranges and degrees");
}

}  // namespace

std::vector<MetricParam> parse_metric_params(const std::string& text) {
  const MetricJson json = json_from(text);
  if (!json.is_object())
    refuse(std::string(option_name), files::in_quotes(text) + " is no JSON object; " + std::string(advice));
  std::vector<MetricParam> all;
  for (const auto& [name, value] : json.items()) all.push_back(param_from(name, value));
  return all;
}

void add_metric_params_option(CLI::App& app, std::vector<MetricParam>& params) {
  CLI::Option* option = app.add_option_function<std::string>(
      std::string(option_name), [](const std::string&) {},  // a pipe can be read once: check_by() does it
      "What the metric takes, in JSON, or @FILE with it: w of l1, l2, squared_l2, minkowski; p of minkowski; "
      "V of seuclidean; V or VI of mahalanobis; categorical and ranges of gower and nan_gower; degrees of "
      "haversine. Lists "
      "have a number for each column that counts; categorical has the numbers of such columns, from 0");
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
  if (metric == Metric::minkowski &&
      std::none_of(params.begin(), params.end(), [](const MetricParam& one) { return one.name == "p"; }))
    refuse(where, "--metric minkowski takes a power p; give " + std::string(option_name) + " '{\"p\": 3}'");
}

IndexOptions metric_options_of(const std::string& where, const std::vector<MetricParam>& params,
                               const std::vector<std::int64_t>& features, std::int64_t columns) {
  IndexOptions options;
  const std::vector<std::int64_t> ordered = counted_in_order(features, columns);
  for (const MetricParam& one : params)
    if (one.name == "degrees") {
      options.degrees = one.values.front() != 0;
    } else if (one.name == "p") {
      options.p = one.values.front();
    } else if (one.name == "categorical") {
      options.categorical = named_columns(where, one, ordered);
    } else {
      check_has_one_a_column(where, one, ordered.size());
      options.*list_for(one) = spread(one, ordered, columns);
    }
  return options;
}

}  // namespace kith::command
