// How classes lie, as a page.
#include <algorithm>
#include <cmath>

#include "report/charts/axis.hpp"
#include "report/class_pages.hpp"
#include "report/parts.hpp"
#include "report/text.hpp"

namespace kith::report {
namespace {

std::int64_t wrong(const Confusion& nearest) {
  return nearest.total() - nearest.correct();
}

/// The mean of the diagonal, or of all but it. NaN where there is none.
double mean_of(const StructureReport& report, bool diagonal) {
  const std::size_t classes = report.classes.size();
  double sum = 0, count = 0;
  for (std::size_t a = 0; a < classes; ++a)
    for (std::size_t b = 0; b < classes; ++b)
      if ((a == b) == diagonal) sum += report.mean[a * classes + b], ++count;
  return sum / count;
}

std::string head(const StructureReport& report) {
  const double q = report.informativeness;
  const std::string lead =
      std::isnan(q)
          ? "Q compares distances between classes with those inside of them; here it is not defined."
          : "Rows of different classes lie, in the mean, " + value_text(q) +
                " times as far apart as rows of one class" +
                (report.metric.ends_with("l2") ? ", distances squared." : ".");
  const auto classes = static_cast<std::int64_t>(report.classes.size());
  return "<header><p class=\"kind\">How classes lie</p><h1>" + value_text(q) +
         " <small>informativeness Q</small></h1><p class=\"lead\">" + lead + "</p><dl class=\"facts\">" +
         fact("Rows", grouped(report.nearest.total()), file_name(report.path)) +
         fact("Columns that count", grouped(report.columns)) + fact("Classes", grouped(classes)) +
         fact("Distance between classes", value_text(mean_of(report, false)),
              "mean of the pairs of classes") +
         fact("Distance inside", value_text(mean_of(report, true)), "mean of the classes") +
         fact("Nearest row of another class", grouped(wrong(report.nearest)),
              percent(1 - report.nearest.accuracy(), 2) + " of the rows") +
         metric_fact(report.metric) + fact("Device", escape(report.device.spec), escape(report.device.name)) +
         "</dl></header>\n";
}

/// Two classes and how far apart they lie.
struct Gap {
  std::size_t a, b;
  double mean;
};

/// Pairs of classes, the closest first.
std::vector<Gap> gaps_of(const StructureReport& report) {
  const std::size_t classes = report.classes.size();
  std::vector<Gap> gaps;
  for (std::size_t a = 0; a < classes; ++a)
    for (std::size_t b = a + 1; b < classes; ++b) gaps.push_back({a, b, report.mean[a * classes + b]});
  std::stable_sort(gaps.begin(), gaps.end(), [](const Gap& x, const Gap& y) { return x.mean < y.mean; });
  if (gaps.size() > listed_pairs) gaps.resize(listed_pairs);
  return gaps;
}

std::string closest(const StructureReport& report) {
  const std::vector<Gap> gaps = gaps_of(report);
  if (gaps.empty()) return "";
  std::string html = "<h3 class=\"first\">Classes closest together</h3><ol class=\"pairs\">";
  for (const Gap& gap : gaps)
    html += pair_line(
        name_html(report.classes[gap.a], pair_name) + " – " + name_html(report.classes[gap.b], pair_name),
        value_text(gap.mean),
        gaps.back().mean > 0 && std::isfinite(gap.mean) ? gap.mean / gaps.back().mean : 1);
  return html + "</ol>";
}

std::string matrix_section(const StructureReport& report) {
  return "<section><h2>Mean distances of classes</h2><p class=\"note\">Between the rows of two classes, and "
         "on the diagonal, in the other colour, between those of one. The stronger the colour, the larger "
         "the distance: classes that are told apart easily have a pale diagonal in strong surroundings.</p>" +
         beside_map(report.classes, distance_map(report.mean, report.classes), closest(report)) +
         "</section>\n";
}

std::string mistakes(const StructureReport& report) {
  const auto pairs = report.nearest.mistakes();
  if (pairs.empty()) return "";
  std::string html = "<h3>Most frequent pairs</h3><ol class=\"pairs two\">";
  for (std::size_t i = 0; i < std::min(pairs.size(), listed_pairs); ++i)
    html += pair_line(name_html(report.classes[pairs[i].truth], pair_name) + " → " +
                          name_html(report.classes[pairs[i].predicted], pair_name),
                      grouped(pairs[i].count),
                      static_cast<double>(pairs[i].count) / static_cast<double>(pairs[0].count));
  return html + "</ol>";
}

/// The classes with the largest share of such rows first, where not all can be listed.
std::vector<std::size_t> listed(const StructureReport& report) {
  std::vector<std::size_t> order(report.classes.size());
  for (std::size_t c = 0; c < order.size(); ++c) order[c] = c;
  if (order.size() <= listed_classes) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return report.nearest.recall(a) < report.nearest.recall(b);
  });
  order.resize(listed_classes);
  return order;
}

std::string classes_table(const StructureReport& report) {
  const std::size_t classes = report.classes.size();
  std::string rows_html;
  for (const std::size_t c : listed(report)) {
    std::size_t other = c;
    const auto mean = [&](std::size_t b) { return report.mean[c * classes + b]; };
    for (std::size_t b = 0; b < classes; ++b)
      if (b != c && (other == c || mean(b) < mean(other))) other = b;
    const std::int64_t rows = report.nearest.truth(c), errors = rows - report.nearest.at(c, c);
    rows_html += "<tr>" + row_name(name_html(report.classes[c])) + number_cell(grouped(rows)) +
                 number_cell(value_text(mean(c))) + "<td class=\"name\">" +
                 (other == c ? "–" : name_html(report.classes[other])) + "</td>" +
                 number_cell(other == c ? "–" : value_text(mean(other))) + number_cell(grouped(errors)) +
                 number_cell(percent(static_cast<double>(errors) / static_cast<double>(rows), 1)) + "</tr>";
  }
  return table("Classes and their nearest ones",
               {{"class"},
                {"rows", true},
                {"mean distance inside", true},
                {"nearest class"},
                {"mean distance to it", true},
                {"nearest row of another class", true},
                {"of its rows", true}},
               rows_html);
}

std::string errors_table(const StructureReport& report) {
  if (report.errors.empty()) return "";
  const auto all = static_cast<std::size_t>(wrong(report.nearest));
  std::string rows;
  for (const NearestError& error : report.errors)
    rows += "<tr><th scope=\"row\" class=\"n\">" + grouped(error.row) + "</th><td class=\"name\">" +
            name_html(report.classes[error.truth]) + "</td>" + number_cell(grouped(error.nearest)) +
            "<td class=\"name\">" + name_html(report.classes[error.other]) + "</td></tr>";
  return "<details><summary>" +
         (all > report.errors.size() ? "The first " + std::to_string(report.errors.size()) + " of these rows"
                                     : std::string("These rows")) +
         ", numbered from 0</summary>" +
         table("Rows whose nearest row is of another class",
               {{"row", true}, {"class"}, {"nearest other row", true}, {"its class"}}, rows) +
         "</details>";
}

std::string nearest_section(const StructureReport& report) {
  return "<section><h2>Nearest rows of another class</h2><p class=\"note\">Rows whose nearest other row is "
         "not of their class: what a classification by one neighbour gets wrong when each row in turn is "
         "left "
         "out.</p>" +
         classes_table(report) + mistakes(report) + errors_table(report) + "</section>\n";
}

}  // namespace

std::string html(const StructureReport& report) {
  return document("Q = " + value_text(report.informativeness) + " of " + file_title(report.path),
                  head(report) + matrix_section(report) + nearest_section(report) + how(report));
}

}  // namespace kith::report
