// What `kith structure` prints and writes.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "command/shared/json.hpp"
#include "command/structure/structure.hpp"
#include "files/shown.hpp"
#include "report/class_pages.hpp"

namespace kith::command {
namespace {

constexpr std::size_t widest_matrix = 10;  ///< classes; more, and its lines are too long for a terminal
constexpr std::size_t listed_pairs = 10;
constexpr std::size_t listed_errors = 200;  ///< on the page

/// Six digits; `inf`, and a dash for what is no number.
std::string number(double value) {
  if (std::isnan(value)) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string rows_of(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " row" : " rows");
}

std::string classes_table(const Structured& done) {
  TextTable table({"class", "rows", "inside", "nearest class", "to it", "nearest row of another"});
  for (std::size_t c = 0; c < done.classes.size(); ++c) {
    const std::size_t other = done.nearest_class(c);
    const bool alone = other == c;
    table.add({done.classes[c], std::to_string(done.sizes[c]), number(done.mean(c, c)),
               alone ? "-" : done.classes[other], alone ? "-" : number(done.mean(c, other)),
               std::to_string(done.sizes[c] - done.nearest.at(c, c))});
  }
  return table.text();
}

std::string matrix_table(const Structured& done) {
  std::vector<std::string> head = {"class"};
  head.insert(head.end(), done.classes.begin(), done.classes.end());
  TextTable table(head);
  for (std::size_t a = 0; a < done.classes.size(); ++a) {
    std::vector<std::string> line = {done.classes[a]};
    for (std::size_t b = 0; b < done.classes.size(); ++b) line.push_back(number(done.mean(a, b)));
    table.add(std::move(line));
  }
  return table.text();
}

std::string pairs_text(const Structured& done) {
  const auto pairs = done.nearest.mistakes();
  std::string text;
  for (std::size_t i = 0; i < std::min(pairs.size(), listed_pairs); ++i)
    text += "  " + files::shown_in_line(done.classes[pairs[i].truth]) + " -> " +
            files::shown_in_line(done.classes[pairs[i].predicted]) + ": " + std::to_string(pairs[i].count) +
            "\n";
  if (pairs.size() > listed_pairs)
    text += "  and " + std::to_string(pairs.size() - listed_pairs) + " pairs more, which --csv lists\n";
  return text;
}

std::string csv_number(double value) {
  return std::isfinite(value) ? nlohmann::json(value).dump() : "";
}

}  // namespace

std::string structure_text(const StructureFlags& flags, const Structured& done) {
  const files::Table& table = done.training.rows.table;
  const std::int64_t wrong = static_cast<std::int64_t>(done.errors.size());
  std::string text =
      files::shown_in_line(table.path) + ": " + rows_of(done.training.n()) + ", " +
      std::to_string(done.columns_counted()) + (done.columns_counted() == 1 ? " column" : " columns") + ", " +
      std::to_string(done.classes.size()) + (done.classes.size() == 1 ? " class" : " classes") + ", " +
      std::string(name(flags.metric)) + ", " + done.device.spec + "\n\n" + classes_table(done);
  if (done.classes.size() <= widest_matrix)
    text += "\nmean distance between classes; inside of one on the diagonal\n" + matrix_table(done);
  else
    text += "\nThe whole matrix is in --csv, --json and --report.\n";
  text += "\nQ = " + number(done.matrix.informativeness) +
          ", mean distance between classes / inside of them (squared for l2)\n";
  text += std::to_string(wrong) + " of " + rows_of(done.training.n()) +
          " have a nearest other row of another class\n";
  return text + pairs_text(done);
}

std::string structure_json(const StructureFlags& flags, const Structured& done) {
  const files::Table& table = done.training.rows.table;
  nlohmann::ordered_json json = {{"file", table.path},
                                 {"rows", done.training.n()},
                                 {"columns", done.columns_counted()},
                                 {"metric", name(flags.metric)},
                                 {"device", done.device.spec},
                                 {"classes", nlohmann::ordered_json::array()},
                                 {"class_matrix", nlohmann::ordered_json::array()},
                                 {"informativeness", number_json(done.matrix.informativeness)},
                                 {"nearest_of_another_class", done.errors.size()},
                                 {"nearest_classes", nlohmann::ordered_json::array()}};
  for (std::size_t a = 0; a < done.classes.size(); ++a) {
    json["classes"].push_back({{"label", done.classes[a]}, {"rows", done.sizes[a]}});
    nlohmann::ordered_json means = nlohmann::ordered_json::array(), nearest = nlohmann::ordered_json::array();
    for (std::size_t b = 0; b < done.classes.size(); ++b) {
      means.push_back(number_json(done.mean(a, b)));
      nearest.push_back(done.nearest.at(a, b));
    }
    json["class_matrix"].push_back(std::move(means));
    json["nearest_classes"].push_back(std::move(nearest));
  }
  return json_text(json);
}

std::string structure_csv(const Structured& done) {
  std::string csv = "class,other,rows,mean_distance,nearest_of_other\r\n";
  for (std::size_t a = 0; a < done.classes.size(); ++a)
    for (std::size_t b = 0; b < done.classes.size(); ++b)
      csv += csv_cell(done.classes[a]) + "," + csv_cell(done.classes[b]) + "," +
             std::to_string(done.sizes[a]) + "," + csv_number(done.mean(a, b)) + "," +
             std::to_string(done.nearest.at(a, b)) + "\r\n";
  return csv;
}

std::string structure_page(const StructureFlags& flags, const Structured& done) {
  report::StructureReport page;
  page.path = done.training.rows.table.path;
  page.columns = done.columns_counted();
  page.metric = name(flags.metric);
  page.classes = done.classes;
  page.mean = done.matrix.mean;
  page.informativeness = done.matrix.informativeness;
  page.nearest = done.nearest;
  for (std::size_t i = 0; i < std::min(done.errors.size(), listed_errors); ++i) {
    const SampleError& error = done.errors[i];
    page.errors.push_back({done.training.file_row(error.sample), done.training.file_row(error.nearest),
                           done.codes[static_cast<std::size_t>(error.sample)],
                           done.codes[static_cast<std::size_t>(error.nearest)]});
  }
  page.device = done.device;
  page.trace = done.trace;
  page.seconds = done.seconds;
  page.command = command_line();
  return report::html(page);
}

}  // namespace kith::command
