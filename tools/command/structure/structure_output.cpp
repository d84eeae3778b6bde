// Makes the document that `kith structure` prints and writes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "command/structure/structure.hpp"
#include "files/shown.hpp"
#include "report/charts/axis.hpp"
#include "report/class_parts.hpp"
#include "report/parts.hpp"
#include "report/text.hpp"

namespace kith::command {
namespace {

using report::Document, report::Fact, report::Kind, report::Pairs, report::Section, report::Table;
using report::Value, report::Words;

constexpr std::size_t widest_matrix = 10;   ///< classes; with more, lines are too long for a terminal
constexpr std::size_t listed_errors = 200;  ///< on the page

/// Returns the mean of the diagonal, or of everything else. NaN if there is none.
double mean_of(const Structured& done, bool diagonal) {
  double sum = 0, count = 0;
  for (std::size_t a = 0; a < done.classes.size(); ++a)
    for (std::size_t b = 0; b < done.classes.size(); ++b)
      if ((a == b) == diagonal) sum += done.mean(a, b), ++count;
  return sum / count;
}

report::Head head_of(const StructureFlags& flags, const Structured& done) {
  const double q = done.matrix.informativeness;
  const std::string times = report::value_text(q);
  return {"Q = " + times + " of " + report::file_title(done.training.rows.table.path), "How classes lie",
          times, "informativeness Q",
          std::isnan(q) ? "Q compares distances between and within classes; here it is undefined."
                        : "Rows of different classes lie, in the mean, " + times +
                              " times as far apart as rows of one class" +
                              (name(flags.metric).ends_with("l2") ? ", distances squared." : ".")};
}

std::string first_line(const StructureFlags& flags, const Structured& done) {
  const auto count = [](auto number, const char* one, const char* many) {
    return std::to_string(number) + (number == 1 ? one : many);
  };
  return files::shown_in_line(done.training.rows.table.path) + ": " +
         count(done.training.n(), " row, ", " rows, ") +
         count(done.columns_counted(), " column, ", " columns, ") +
         count(done.classes.size(), " class, ", " classes, ") + std::string(name(flags.metric)) + ", " +
         done.device.spec + "\n\n";
}

void add_facts(Document& document, const StructureFlags& flags, const Structured& done) {
  const std::string& path = done.training.rows.table.path;
  document.add(Fact{"file", "", path});
  document.add(Fact{"rows", "Rows", done.training.n(), report::file_name(path)});
  document.add(Fact{"columns", "Columns that count", done.columns_counted()});
  document.add(Fact{"arithmetic", "", name(done.training.arithmetic)});
  document.add(report::metric_fact(std::string(name(flags.metric))));
  document.add(report::device_fact(done.device));
  document.add(Fact{"", "Classes", done.classes.size()});
  document.add(Fact{"", "Distance between classes", mean_of(done, false), "mean of the pairs of classes"});
  document.add(Fact{"", "Distance inside", mean_of(done, true), "mean of the classes"});
}

/// Returns all classes; if they are too many to list, those with the largest share of rows whose nearest row
/// is of another class.
std::vector<std::size_t> listed(const Structured& done) {
  std::vector<std::size_t> order(done.classes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() <= report::listed_classes) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return done.nearest.recall(a) < done.nearest.recall(b);
  });
  order.resize(report::listed_classes);
  return order;
}

Table classes_table(const Structured& done) {
  Table table{"Classes and their nearest ones",
              "classes",
              {{Kind::name, "class", "class", "label"},
               {Kind::whole, "rows", "rows", "rows"},
               {Kind::number, "inside", "mean distance inside"},
               {Kind::name, "nearest class", "nearest class"},
               {Kind::number, "to it", "mean distance to it"},
               {Kind::whole, "nearest row of another", "nearest row of another class"},
               {Kind::share, "", "of its rows"}},
              done.classes.size(),
              {}};
  table.row = [&done](std::size_t c) -> std::vector<Value> {
    const std::size_t other = done.nearest_class(c);
    const bool alone = other == c;
    const std::int64_t errors = done.sizes[c] - done.nearest.at(c, c);
    return {done.classes[c],
            done.sizes[c],
            done.mean(c, c),
            alone ? Value() : Value(done.classes[other]),
            alone ? Value() : Value(done.mean(c, other)),
            errors,
            static_cast<double>(errors) / static_cast<double>(done.sizes[c])};
  };
  table.listed = listed(done);
  return table;
}

/// Makes the class matrix for the terminal.
Table matrix_table(const Structured& done) {
  Table table{"", "", {{Kind::name, "class"}}, done.classes.size(), {}};
  for (const std::string& name : done.classes) table.fields.push_back({Kind::number, name});
  table.row = [&done](std::size_t a) {
    std::vector<Value> row = {done.classes[a]};
    for (std::size_t b = 0; b < done.classes.size(); ++b) row.emplace_back(done.mean(a, b));
    return row;
  };
  return table;
}

/// Makes a list of lists: `cell` for each pair of classes.
report::Data matrix_data(const std::string& key, std::size_t classes,
                         const std::function<Value(std::size_t, std::size_t)>& cell) {
  return {key, [=] {
            Value all = Value::array();
            for (std::size_t a = 0; a < classes; ++a) {
              Value& row = all.emplace_back(Value::array());
              for (std::size_t b = 0; b < classes; ++b) row.push_back(cell(a, b));
            }
            return all;
          }};
}

/// Makes the CSV: a line for each pair of classes.
Table pairs_table(const Structured& done) {
  const std::size_t classes = done.classes.size();
  Table table{"",
              "",
              {{Kind::name, "", "", "", "class"},
               {Kind::name, "", "", "", "other"},
               {Kind::whole, "", "", "", "rows"},
               {Kind::number, "", "", "", "mean_distance"},
               {Kind::whole, "", "", "", "nearest_of_other"}},
              classes * classes,
              {}};
  table.row = [&done, classes](std::size_t i) -> std::vector<Value> {
    const std::size_t a = i / classes, b = i % classes;
    return {done.classes[a], done.classes[b], done.sizes[a], done.mean(a, b), done.nearest.at(a, b)};
  };
  return table;
}

/// Returns the pairs of classes that are closest together.
Pairs closest(const Structured& done) {
  const std::size_t classes = done.classes.size();
  std::vector<std::pair<std::size_t, std::size_t>> gaps;
  for (std::size_t a = 0; a < classes; ++a)
    for (std::size_t b = a + 1; b < classes; ++b) gaps.emplace_back(a, b);
  const auto mean = [&](const auto& gap) { return done.mean(gap.first, gap.second); };
  std::stable_sort(gaps.begin(), gaps.end(), [&](const auto& x, const auto& y) { return mean(x) < mean(y); });
  Pairs pairs{"Classes closest together", "", " – ", {}, gaps.size()};
  if (gaps.size() > report::listed_pairs) gaps.resize(report::listed_pairs);
  for (const auto& gap : gaps) {
    const double largest = mean(gaps.back());
    pairs.first.push_back({done.classes[gap.first], done.classes[gap.second], mean(gap),
                           largest > 0 && std::isfinite(mean(gap)) ? mean(gap) / largest : 1});
  }
  return pairs;
}

/// Lists the rows themselves, for the page.
Table errors_table(const Structured& done) {
  Table table{"Rows whose nearest row is of another class",
              "",
              {{Kind::whole, "", "row"},
               {Kind::name, "", "class"},
               {Kind::whole, "", "nearest other row"},
               {Kind::name, "", "its class"}},
              std::min(done.errors.size(), listed_errors),
              {}};
  table.row = [&done](std::size_t i) -> std::vector<Value> {
    const auto& [row, nearest] = done.errors[i];
    const auto name = [&](std::int64_t at) { return done.classes[done.codes[static_cast<std::size_t>(at)]]; };
    return {done.training.file_row(row), name(row), done.training.file_row(nearest), name(nearest)};
  };
  table.folded =
      (done.errors.size() > table.rows ? "The first " + std::to_string(table.rows) + " of these rows"
                                       : std::string("These rows")) +
      ", numbered from 0";
  return table;
}

void add_matrix(Document& document, const Structured& done) {
  const std::size_t classes = done.classes.size();
  document.add(
      matrix_data("class_matrix", classes, [&done](auto a, auto b) { return Value(done.mean(a, b)); }));
  if (classes <= widest_matrix) {
    document.add(Words{"\nmean distance between classes; within a class on the diagonal\n"});
    document.add(matrix_table(done));
  } else {
    document.add(Words{"\nThe whole matrix is in --table, --json and --report.\n"});
  }
  document.add(Section{"Mean distances of classes",
                       "Between the rows of two classes, and on the diagonal, in the other colour, between "
                       "those of one. The stronger the colour, the larger the distance: classes that are "
                       "told apart easily have a pale diagonal in strong surroundings."});
  document.add(report::Picture{[&done] { return report::distance_map(done.matrix.mean, done.classes); },
                               report::beside_map(done.classes)});
  document.add(closest(done));
}

}  // namespace

Document structure_document(const StructureFlags& flags, const Structured& done) {
  const std::string rows = std::to_string(done.training.n()) + (done.training.n() == 1 ? " row" : " rows");
  Document document{head_of(flags, done), {done.device, done.trace, done.seconds, command_line()}, {}};
  document.add(Words{first_line(flags, done)});
  add_facts(document, flags, done);
  document.add(Section{"Class by class",
                       "How far the rows of each class lie apart, the class nearest to it, and how many of "
                       "its rows have a nearest other row that is not of their class."});
  document.add(classes_table(done));
  add_matrix(document, done);
  document.add(Fact{"informativeness", "", done.matrix.informativeness});
  document.add(Words{
      "\nQ = " + format_digits(done.matrix.informativeness) +
      ", mean distance between classes / within classes (squared for l2, doubled for cosine)\n" +
      std::to_string(done.errors.size()) + " of " + rows + " have a nearest other row of another class\n"});
  document.add(Fact{"nearest_of_another_class", "Nearest row of another class", done.errors.size(),
                    report::percent(1 - done.nearest.accuracy(), 2) + " of the rows"});
  document.add(matrix_data("nearest_classes", done.classes.size(),
                           [&done](auto a, auto b) { return Value(done.nearest.at(a, b)); }));
  document.add(Section{"Nearest rows of another class",
                       "Rows whose nearest other row is not of their class: what a classification by one "
                       "neighbour gets wrong when each row in turn is left out."});
  Pairs pairs = report::mistakes_of(done.nearest, done.classes);
  pairs.title = "Most frequent pairs", pairs.none = "There are none";
  pairs.beside = false, pairs.more = "pairs more, which --table lists";
  document.add(std::move(pairs));
  document.add(errors_table(done));
  document.add(pairs_table(done));
  return document;
}

}  // namespace kith::command
