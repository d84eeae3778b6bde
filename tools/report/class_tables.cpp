// Which class was taken for which, and how well each was found.
#include <algorithm>
#include <cmath>

#include "report/parts.hpp"
#include "report/text.hpp"

namespace kith::report {
namespace {

std::string mistakes(const Confusion& confusion, const std::vector<std::string>& classes) {
  const auto pairs = confusion.mistakes();
  if (pairs.empty()) return "<h3 class=\"first\">No mistakes</h3>";
  std::string html = "<h3 class=\"first\">Most frequent mistakes</h3><ol class=\"pairs\">";
  for (std::size_t i = 0; i < std::min(pairs.size(), listed_pairs); ++i)
    html += pair_line(name_html(classes[pairs[i].truth], pair_name) + " → " +
                          name_html(classes[pairs[i].predicted], pair_name),
                      grouped(pairs[i].count),
                      static_cast<double>(pairs[i].count) / static_cast<double>(pairs[0].count));
  return html + "</ol>";
}

std::string bar(double share) {
  if (std::isnan(share)) return "<td class=\"bar\"><span>–</span></td>";
  return "<td class=\"bar\"><span>" + percent(share, 1) + "</span><b style=\"width:calc(var(--bar)*" +
         decimal(share, 3) + ")\"></b></td>";
}

/// The mean over the classes where the value is defined.
template <class Value>
double mean(std::size_t classes, Value value) {
  double sum = 0, count = 0;
  for (std::size_t c = 0; c < classes; ++c)
    if (!std::isnan(value(c))) sum += value(c), ++count;
  return count > 0 ? sum / count : std::nan("");
}

}  // namespace

std::string pair_line(const std::string& pair, const std::string& value, double share) {
  return "<li><span>" + pair + "</span><span class=\"count\">" + value +
         "</span><b style=\"width:" + decimal(100 * share, 1) + "%\"></b></li>";
}

std::string confusion_section(const Confusion& confusion, const std::vector<std::string>& classes) {
  return "<section><h2>Which class was taken for which</h2><p class=\"note\">A row is a true class, a column "
         "what its rows "
         "were taken for: right ones on the diagonal. The stronger the colour, the larger the share of its "
         "row.</p>" +
         beside_map(classes, heat_map(confusion, classes), mistakes(confusion, classes)) + "</section>\n";
}

std::string class_section(const Confusion& confusion, const std::vector<std::string>& classes,
                          bool no_answer) {
  std::vector<std::size_t> listed(classes.size());
  for (std::size_t c = 0; c < listed.size(); ++c) listed[c] = c;
  std::string html =
      "<section><h2>Class by class</h2><p class=\"note\">Precision: of the rows taken for the class, how "
      "many are of it. "
      "Recall: of the rows of the class, how many were found. F1: the harmonic mean of both.";
  if (listed.size() > listed_classes) {
    const auto f1 = [&](std::size_t c) {
      const double v = confusion.f1(c);
      return std::isnan(v) ? 2.0 : v;
    };
    std::stable_sort(listed.begin(), listed.end(),
                     [&](std::size_t a, std::size_t b) { return f1(a) < f1(b); });
    listed.resize(listed_classes);
    html += " The " + std::to_string(listed_classes) + " classes with the lowest F1 of " +
            grouped(static_cast<std::int64_t>(classes.size())) + " are listed.";
  }
  std::string rows;
  for (std::size_t c : listed)
    rows += "<tr>" + row_name(name_html(classes[c])) + number_cell(grouped(confusion.truth(c))) +
            number_cell(grouped(confusion.predicted(c))) + number_cell(grouped(confusion.at(c, c))) +
            bar(confusion.precision(c)) + bar(confusion.recall(c)) + bar(confusion.f1(c)) + "</tr>\n";
  const std::size_t counted = confusion.classes() - (no_answer ? 1 : 0);
  const std::string foot = "<tr>" + row_name("all, and the mean of the classes") +
                           number_cell(grouped(confusion.total())) + number_cell(grouped(confusion.total())) +
                           number_cell(grouped(confusion.correct())) +
                           bar(mean(counted, [&](std::size_t c) { return confusion.precision(c); })) +
                           bar(mean(counted, [&](std::size_t c) { return confusion.recall(c); })) +
                           bar(mean(counted, [&](std::size_t c) { return confusion.f1(c); })) + "</tr>";
  return html + "</p>" +
         table("Class by class",
               {{"class"},
                {"rows", true},
                {"taken for it", true},
                {"right", true},
                {"precision"},
                {"recall"},
                {"F1"}},
               rows, foot) +
         "</section>\n";
}

}  // namespace kith::report
