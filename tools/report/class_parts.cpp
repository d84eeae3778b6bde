// Builds the parts of a document about classes: confusion, scores of each class, and accuracy by k.
#include "report/class_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "report/charts/chart.hpp"
#include "report/parts.hpp"
#include "report/text.hpp"

namespace kith::report {
namespace {

constexpr std::size_t listed_points = 12;  ///< a longer table is folded

/// Returns the mean over the first classes for which the value is defined.
double mean_of(const Confusion& confusion, std::size_t classes,
               double (Confusion::*value)(std::size_t) const) {
  double sum = 0, count = 0;
  for (std::size_t c = 0; c < classes; ++c)
    if (const double one = (confusion.*value)(c); !std::isnan(one)) sum += one, ++count;
  return count > 0 ? sum / count : std::nan("");
}

std::vector<Field> class_fields(bool everywhere) {
  const auto also = [&](const char* name) { return everywhere ? name : ""; };
  std::vector<Field> fields = {{Kind::name, also("class"), "class", also("class")},
                               {Kind::whole, also("rows"), "rows", also("rows")},
                               {Kind::whole, "", "taken for it"},
                               {Kind::whole, "", "right"}};
  for (const auto& [title, key] : {std::pair{"precision", "precision"}, {"recall", "recall"}, {"F1", "f1"}}) {
    fields.push_back({Kind::share, also(title), "", also(key)});
    fields.push_back({Kind::bar, "", title});
  }
  return fields;
}

/// Makes one row of the table.
///   given   precision, recall and F1 for the terminal and JSON
///   scores  those for the page
std::vector<Value> class_row(const std::string& name, std::int64_t rows, std::int64_t taken,
                             std::int64_t right, const ClassScore& given,
                             const std::array<double, 3>& scores) {
  return {name, rows, taken, right, given.precision, scores[0], given.recall, scores[1], given.f1, scores[2]};
}

/// Returns a chart of accuracy over k. It marks the first best k, and `k` if that is another.
Chart chart_of(const std::vector<SweepPoint>& sweep, std::int64_t total, std::int64_t k) {
  Chart chart{"Accuracy over k",
              {"k, the number of neighbours that vote", false},
              {"accuracy, %", false, false},
              {{"every k", "", "", {}}}};
  const auto add = [&](std::size_t series, const SweepPoint& point) {
    const double share = static_cast<double>(point.correct) / static_cast<double>(total);
    chart.series[series].points.push_back({static_cast<double>(point.k), 100 * share, {}});
    return ": k = " + std::to_string(point.k) + ", " + percent(share, 2);
  };
  for (const SweepPoint& point : sweep) add(0, point);
  const auto best =
      std::max_element(sweep.begin(), sweep.end(),
                       [](const SweepPoint& a, const SweepPoint& b) { return a.correct < b.correct; });
  for (const SweepPoint& point : sweep) {
    if (point.k != best->k && point.k != k) continue;
    chart.series.emplace_back();
    const std::string value = add(chart.series.size() - 1, point);
    chart.series.back().label = (point.k == best->k ? "the best" : "this page") + value;
  }
  return chart;
}

}  // namespace

Fact metric_fact(const std::string& name) {
  constexpr std::array<std::pair<const char*, const char*>, 6> called = {
      {{"l2", "Euclidean distance"},
       {"squared_l2", "Euclidean distance, squared"},
       {"l1", "Manhattan distance"},
       {"linf", "Largest difference of a column"},
       {"cosine", "Cosine distance"},
       {"negative_dot", "Inner product, the largest first"}}};
  for (const auto& [id, words] : called)
    if (name == id) return {"metric", "Metric", name, name, words};
  return {"metric", "Metric", name};
}

Fact device_fact(const DeviceInfo& device) {
  return {"device", "Device", device.spec, escape(device.name)};
}

Pairs mistakes_of(const Confusion& confusion, const std::vector<std::string>& classes) {
  const auto mistakes = confusion.mistakes();
  Pairs pairs{"Most frequent mistakes", "No mistakes", " → ", {}, mistakes.size()};
  for (std::size_t i = 0; i < std::min(mistakes.size(), listed_pairs); ++i)
    pairs.first.push_back({classes[mistakes[i].truth], classes[mistakes[i].predicted], mistakes[i].count,
                           static_cast<double>(mistakes[i].count) / static_cast<double>(mistakes[0].count)});
  return pairs;
}

void add_confusion(Document& document, const Confusion& confusion, const std::vector<std::string>& classes) {
  document.add(Section{"Which class was taken for which",
                       "A row is a true class, a column what its rows were taken for: right ones on the "
                       "diagonal. The stronger the colour, the larger the share of its row."});
  document.add(Picture{[=] { return heat_map(confusion, classes); }, beside_map(classes)});
  document.add(mistakes_of(confusion, classes));
}

void add_classes(Document& document, const Confusion& confusion, const std::vector<std::string>& classes,
                 bool no_answer, const std::vector<ClassScore>& scores) {
  const bool everywhere = !scores.empty();
  std::string note =
      "Precision: of the rows taken for the class, how many are of it. Recall: of the rows of the class, how "
      "many were found. F1: the harmonic mean of both.";
  std::vector<std::size_t> listed(classes.size());
  std::iota(listed.begin(), listed.end(), std::size_t{0});
  if (listed.size() > listed_classes) {
    const auto f1 = [&](std::size_t c) { return std::isnan(confusion.f1(c)) ? 2.0 : confusion.f1(c); };
    std::stable_sort(listed.begin(), listed.end(),
                     [&](std::size_t a, std::size_t b) { return f1(a) < f1(b); });
    listed.resize(listed_classes);
    note += " The " + std::to_string(listed_classes) + " classes with the lowest F1 of " +
            grouped(static_cast<std::int64_t>(classes.size())) + " are listed.";
  }
  const std::size_t counted = classes.size() - (no_answer ? 1 : 0);
  Table table{"Class by class", everywhere ? "scores" : "", class_fields(everywhere), counted, {}};
  table.row = [=](std::size_t c) {
    return class_row(classes[c], confusion.truth(c), confusion.predicted(c), confusion.at(c, c),
                     c < scores.size() ? scores[c] : ClassScore{},
                     {confusion.precision(c), confusion.recall(c), confusion.f1(c)});
  };
  table.foot = class_row(
      "all, and the mean of the classes", confusion.total(), confusion.total(), confusion.correct(), {},
      {mean_of(confusion, counted, &Confusion::precision), mean_of(confusion, counted, &Confusion::recall),
       mean_of(confusion, counted, &Confusion::f1)});
  table.listed = std::move(listed);
  document.add(Section{"Class by class", note});
  document.add(std::move(table));
}

Table sweep_table(const std::vector<SweepPoint>& sweep, std::int64_t total, bool in_text) {
  const auto also = [&](const char* name) { return in_text ? name : ""; };
  Table table{"Accuracy for each k",
              "",
              {{Kind::whole, also("k"), "k", "k", "k"},
               {Kind::share, also("accuracy"), "accuracy", "accuracy", "accuracy"},
               {Kind::whole, also("correct"), "right", "correct", "correct"}},
              sweep.size(),
              {}};
  table.row = [=](std::size_t i) -> std::vector<Value> {
    return {sweep[i].k, static_cast<double>(sweep[i].correct) / static_cast<double>(total), sweep[i].correct};
  };
  if (sweep.size() > listed_points) table.folded = "The numbers";
  return table;
}

void add_sweep(Document& document, const std::vector<SweepPoint>& sweep, std::int64_t total, std::int64_t k,
               Table numbers) {
  document.add(Picture{[=] { return line_chart(chart_of(sweep, total, k)); }});
  document.add(std::move(numbers));
}

}  // namespace kith::report
