#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/charts/image.hpp"
#include "report/class_parts.hpp"
#include "report/parts.hpp"
#include "report/plain.hpp"
#include "report/text.hpp"

namespace kith::report {
namespace {

constexpr std::size_t shown_images = 10, shown_rows = 7;  ///< neighbours of a sample
constexpr std::int64_t shown_columns = 9;                 ///< columns of a table

/// Turns values into grey: bytes stay as they are, and other values are stretched from least to most.
struct Grey {
  float low = 0, high = 255;
  std::uint8_t operator()(float value) const {
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp((value - low) / (high - low), 0.0f, 1.0f)));
  }
};

Grey grey_of(const Samples& report) {
  const auto [least, most] =
      std::minmax_element(report.queries->values.begin(), report.queries->values.end());
  if (*least >= 0 && *most > 1 && *most <= 255) return {};
  return {*least, *most > *least ? *most : *least + 1};
}

///   alt  HTML: what it shows
std::string picture(const files::Table& table, std::int64_t row, const Grey& grey, const std::string& alt) {
  std::vector<std::uint8_t> pixels;
  const float* values = table.values.data() + row * table.cols;
  for (std::int64_t c = 0; c < table.cols; ++c) pixels.push_back(grey(values[c]));
  return "<img alt=\"" + alt + "\" src=\"" +
         png_address(pixels, static_cast<std::size_t>(table.image_shape[0]),
                     static_cast<std::size_t>(table.image_shape[1]), 1) +
         "\">";
}

/// Writes the class of a neighbour, marked by whether it is that of the query.
std::string marked_class(const Samples& report, const Sample& sample, std::size_t j) {
  const std::size_t c = sample.neighbor_classes[j];
  return std::string("<span class=\"") + (c == sample.truth ? "is" : "not") + "\">" +
         name_html(report.classes[c], 24) + "</span>";
}

std::string heading(const Samples& report, const Sample& sample) {
  return "<h3><span class=\"is\">" + name_html(report.classes[sample.truth], 40) +
         "</span> taken for <span class=\"not\">" + name_html(report.classes[sample.predicted], 40) +
         "</span> <small>· row " + grouped(sample.query) + " · votes " + grouped(sample.votes_truth) +
         " to " + grouped(sample.votes_predicted) + "</small></h3>";
}

std::string image_card(const Samples& report, const Sample& sample, const Grey& grey) {
  std::string card =
      "<div class=\"card\">" + heading(report, sample) + "<div class=\"row\"><figure class=\"query\">" +
      picture(*report.queries, sample.query, grey,
              "query " + grouped(sample.query) + ": " + name_text(report.classes[sample.truth])) +
      "<figcaption><small>the query</small></figcaption></figure><div class=\"many\">";
  for (std::size_t j = 0; j < std::min(sample.neighbors.size(), shown_images); ++j)
    card += "<figure>" +
            picture(*report.train, sample.neighbors[j], grey,
                    "training row " + grouped(sample.neighbors[j]) + ": " +
                        name_text(report.classes[sample.neighbor_classes[j]])) +
            "<figcaption>" + marked_class(report, sample, j) + "<small>" + shortest(sample.distances[j]) +
            "</small></figcaption></figure>";
  return card + "</div></div></div>\n";
}

double value_at(const files::Table& table, std::int64_t row, std::int64_t column) {
  const auto at = static_cast<std::size_t>(row * table.cols + column);
  return table.doubles.empty() ? static_cast<double>(table.values[at]) : table.doubles[at];
}

/// Returns what the file has in this cell: a number, a category, or nothing.
std::string cell_text(const files::Table& train, const files::Table& table, std::int64_t row,
                      std::int64_t column) {
  const double value = value_at(table, row, column);
  if (std::isnan(value)) return "missing";
  for (const files::Categories& known : train.categories)
    if (known.column == column && value >= 0 && static_cast<std::size_t>(value) < known.names.size())
      return known.names[static_cast<std::size_t>(value)];
  return table.doubles.empty() ? shortest(value) : format_double(value);
}

/// Returns the columns in which query and neighbours differ most, ascending; all if they are few.
std::vector<std::int64_t> telling_columns(const Samples& report, const Sample& sample) {
  const std::int64_t cols = report.train->cols;
  std::vector<std::int64_t> columns(static_cast<std::size_t>(cols));
  std::iota(columns.begin(), columns.end(), std::int64_t{0});
  if (cols <= shown_columns) return columns;
  std::vector<double> difference(columns.size());
  for (std::size_t j = 0; j < std::min(sample.neighbors.size(), shown_rows); ++j)
    for (std::int64_t c = 0; c < cols; ++c)
      difference[static_cast<std::size_t>(c)] += std::fabs(value_at(*report.queries, sample.query, c) -
                                                           value_at(*report.train, sample.neighbors[j], c));
  std::stable_sort(columns.begin(), columns.end(), [&](std::int64_t a, std::int64_t b) {
    return difference[static_cast<std::size_t>(a)] > difference[static_cast<std::size_t>(b)];
  });
  columns.resize(shown_columns);
  std::sort(columns.begin(), columns.end());
  return columns;
}

std::string row_cells(const Samples& report, const files::Table& table, std::int64_t row,
                      const std::vector<std::int64_t>& columns, const Sample* query) {
  std::string cells;
  for (std::int64_t c : columns) {
    const std::string text = cell_text(*report.train, table, row, c);
    const bool same = query && text == cell_text(*report.train, *report.queries, query->query, c);
    cells += std::string("<td class=\"n") + (same ? " same" : "") + "\">" + name_html(text, 24) + "</td>";
  }
  return cells;
}

std::string column_name(const files::Table& train, std::int64_t column) {
  if (train.column_names.empty()) return grouped(column + 1);
  return name_html(train.column_names[static_cast<std::size_t>(column)], 18);
}

std::string table_card(const Samples& report, const Sample& sample) {
  const std::vector<std::int64_t> columns = telling_columns(report, sample);
  std::vector<Column> head = {{"row"}, {"class"}, {"distance", true}};
  for (std::int64_t c : columns) head.push_back({column_name(*report.train, c), true});
  std::string rows = "<tr class=\"query\"><th scope=\"row\">query " + grouped(sample.query) +
                     "</th><td class=\"name\"><span class=\"is\">" +
                     name_html(report.classes[sample.truth], 24) + "</span></td><td></td>" +
                     row_cells(report, *report.queries, sample.query, columns, nullptr) + "</tr>";
  for (std::size_t j = 0; j < std::min(sample.neighbors.size(), shown_rows); ++j)
    rows += "<tr><th scope=\"row\">" + grouped(sample.neighbors[j]) + "</th><td class=\"name\">" +
            marked_class(report, sample, j) + "</td>" + number_cell(shortest(sample.distances[j])) +
            row_cells(report, *report.train, sample.neighbors[j], columns, &sample) + "</tr>";
  return "<div class=\"card\">" + heading(report, sample) +
         table("Query " + grouped(sample.query) + " and its neighbours", head, rows) + "</div>\n";
}

std::string note(const Samples& report, bool images) {
  const std::size_t shown = images ? shown_images : shown_rows;
  std::string text =
      "Some of the " + grouped(report.wrong) +
      " misclassified rows, one of each frequent mistake first, beside their nearest training rows";
  if (static_cast<std::size_t>(report.k) > shown)
    text += " (the first " + std::to_string(shown) + " of " + grouped(report.k) + ")";
  text += ": nearest first, with class and distance. Votes: for the true class, and for the one that won.";
  if (!images && report.train->cols > shown_columns)
    text += " Of the " + grouped(report.train->cols) + " columns, the " + std::to_string(shown_columns) +
            " in which they differ most are shown.";
  return "<p class=\"note\">" + text + "</p>";
}

}  // namespace

std::string samples(const Samples& report) {
  const bool images =
      report.train->image_shape.size() == 2 && report.queries->image_shape == report.train->image_shape;
  std::string html = note(report, images) + (images ? "<div class=\"cards\">\n" : "<div class=\"rows\">\n");
  const Grey grey = grey_of(report);
  for (const Sample& sample : report.list)
    html += images ? image_card(report, sample, grey) : table_card(report, sample);
  return html + "</div>";
}

}  // namespace kith::report
