#include "lab/reproduce/experiment_output.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <set>

#include "command/shared/command.hpp"

namespace kith::command {
namespace {

using experiments::Chart;
using experiments::Check;
using experiments::Point;
using experiments::Result;
using experiments::Series;

constexpr std::size_t line_width = 110;

/// Four digits; a whole number whole.
std::string short_number(double value) {
  if (!std::isfinite(value)) return "-";
  std::array<char, 40> text{};
  const bool whole = value == std::round(value) && std::fabs(value) < 1e15;
  std::snprintf(text.data(), text.size(), whole ? "%.0f" : "%.4g", value);
  return text.data();
}

/// Digits enough for the same bits; empty for what is no number.
std::string exact_number(double value) {
  if (!std::isfinite(value)) return "";
  std::array<char, 40> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// Words of `text` in lines that begin with `first`, then with as many spaces.
std::string wrapped(const std::string& first, const std::string& text) {
  std::string result, line = first;
  const std::size_t indent = columns(first);
  bool empty = true;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!empty && columns(line) + 1 + columns(word) > line_width) {
      result += line + "\n";
      line = std::string(indent, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
    begin = end + 1;
  }
  return result + line + "\n";
}

std::string wrapped_list(const std::string& title, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string text = title + "\n";
  for (const std::string& item : items) text += wrapped("  - ", item);
  return text + "\n";
}

bool has_points(const Series& series) {
  return std::any_of(series.points.begin(), series.points.end(),
                     [](const Point& point) { return std::isfinite(point.y); });
}

/// A column for each series that has points. Where their labels are too long for a line, they are numbered.
template <class Cell>
std::string points_table(const Chart& chart, const Cell& cell) {
  std::vector<const Series*> shown;
  std::set<double> values;
  std::size_t width = columns(chart.x.title);
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) values.insert(point.x);
    if (!has_points(series)) continue;
    shown.push_back(&series);
    width += 2 + columns(series.label);
  }
  if (shown.empty()) return "nothing could be measured here; the notes say why\n";
  std::vector<std::string> head = {chart.x.title};
  std::string key;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const std::string number = "[" + std::to_string(i + 1) + "]";
    head.push_back(width > line_width ? number : shown[i]->label);
    if (width > line_width) key += "  " + number + " " + shown[i]->label + "\n";
  }
  TextTable table(head);
  for (double x : values) {
    std::vector<std::string> row = {short_number(x)};
    for (const Series* series : shown) {
      const auto found = std::find_if(series->points.begin(), series->points.end(),
                                      [&](const Point& point) { return point.x == x; });
      row.push_back(found == series->points.end() ? "-" : cell(*found));
    }
    table.add(std::move(row));
  }
  return key + table.text();
}

/// Whether the paper's own numbers stand beside ours, as a series or in a table.
bool has_figures_of_paper(const Result& result, const Chart& chart) {
  const auto of_paper = [](const std::string& text) {
    return text.starts_with("paper") || text.starts_with("the paper");
  };
  return std::any_of(chart.series.begin(), chart.series.end(),
                     [&](const Series& series) { return of_paper(series.label); }) ||
         std::any_of(result.tables.begin(), result.tables.end(), [&](const experiments::Table& table) {
           return std::any_of(table.head.begin(), table.head.end(), of_paper);
         });
}

std::string chart_text(const Result& result, const Chart& chart) {
  std::string text = chart.title + "\n" + chart.y.title + "\n" +
                     points_table(chart, [](const Point& point) { return short_number(point.y); });
  const bool joules = std::any_of(chart.series.begin(), chart.series.end(), [](const Series& series) {
    return std::any_of(series.points.begin(), series.points.end(),
                       [](const Point& point) { return point.joules.has_value(); });
  });
  if (joules)
    text += "joules a run\n" + points_table(chart, [](const Point& point) {
              return point.joules ? short_number(*point.joules) : "-";
            });
  if (!has_figures_of_paper(result, chart))
    text += "the paper's own figures, point by point: not available\n";
  return text + "\n";
}

std::string claims_text(const Result& result) {
  std::string text = "paper and here\n";
  for (const experiments::Claim& claim : result.claims)
    text += wrapped("  - ", claim.what) + wrapped("      paper  ", claim.paper) +
            wrapped("      here   ", claim.here) +
            (claim.why.empty() ? "" : wrapped("      why    ", claim.why));
  return result.claims.empty() ? "" : text + "\n";
}

std::string checks_text(const Result& result) {
  std::string text;
  std::size_t passed = 0;
  for (const Check& check : result.checks) {
    passed += check.passed;
    if (!check.passed) text += wrapped("  DIFFERENT  ", check.what + ": " + check.detail);
  }
  return "checks: " + std::to_string(passed) + " of " + std::to_string(result.checks.size()) +
         " gave the same bits" + (text.empty() ? "" : "; what gave others was not timed") + "\n" + text;
}

}  // namespace

std::string experiment_text(const Result& result) {
  std::string text = result.name + ": " + result.title + "\n";
  text += wrapped("  paper     ", result.paper);
  text += wrapped("  hardware  ", result.hardware + " (ratios can be compared, absolute times cannot)");
  for (const std::string& device : result.devices) text += wrapped("  here      ", device);
  if (result.quick) text += "  sizes     quick, for a small machine; not those of the paper\n";
  text += "\n";
  for (const std::string& paragraph : result.explanation) text += wrapped("", paragraph) + "\n";
  for (const Chart& chart : result.charts) text += chart_text(result, chart);
  for (const experiments::Table& table : result.tables) {
    TextTable columns(table.head);
    for (const auto& row : table.rows) columns.add(row);
    text += table.title + "\n" + columns.text() + "\n";
  }
  text += claims_text(result) + wrapped_list("assumed, because the paper leaves it open", result.assumed) +
          wrapped_list("what ran", result.plans) + wrapped_list("notes", result.notes);
  return text + wrapped("energy: ", result.energy) + checks_text(result);
}

std::string experiments_csv(const std::vector<Result>& results) {
  std::string csv = "experiment,chart,x_title,y_title,series,device,x,y,joules\r\n";
  for (const Result& result : results)
    for (const Chart& chart : result.charts)
      for (const Series& series : chart.series)
        for (const Point& point : series.points)
          csv += csv_cell(result.name) + "," + csv_cell(chart.title) + "," + csv_cell(chart.x.title) + "," +
                 csv_cell(chart.y.title) + "," + csv_cell(series.label) + "," + csv_cell(series.device) +
                 "," + exact_number(point.x) + "," + exact_number(point.y) + "," +
                 (point.joules ? exact_number(*point.joules) : "") + "\r\n";
  return csv;
}

}  // namespace kith::command
