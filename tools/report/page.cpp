#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "report/parts.hpp"
#include "report/text.hpp"

namespace kith::report {
namespace {

constexpr std::size_t listed_pairs = 10, listed_classes = 200;

std::string file_name(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return escape(name.empty() ? path : name);
}

std::string fact(const std::string& name, const std::string& value, const std::string& more = {}) {
  return "<div><dt>" + name + "</dt><dd>" + value + (more.empty() ? "" : "<small>" + more + "</small>") +
         "</dd></div>";
}

double accuracy(const Report& report) {
  return static_cast<double>(report.confusion.correct()) / static_cast<double>(report.confusion.total());
}

std::string head(const Report& report) {
  const Confusion& confusion = report.confusion;
  const double share = accuracy(report);
  std::string html =
      "<header><p class=\"kind\">Exact k-nearest-neighbour classification</p><h1>" + percent(share, 2) +
      " <small>accuracy</small></h1><p class=\"lead\">" + grouped(confusion.correct()) + " of " +
      grouped(confusion.total()) + " rows were given their true class by a vote of their " +
      (report.k == 1 ? std::string("nearest neighbour") : grouped(report.k) + " nearest neighbours") +
      ".</p><div class=\"meter\" role=\"img\" aria-label=\"" + percent(share, 2) +
      "\"><i style=\"width:" + decimal(100 * share, 3) + "%\"></i></div><dl class=\"facts\">";
  html += fact("Training rows", grouped(report.train->rows), file_name(report.train->path));
  html += fact("Queries", grouped(report.queries->rows), file_name(report.queries->path));
  const auto& shape = report.train->image_shape;
  html += fact(
      "Dimensions", grouped(report.train->cols),
      shape.size() == 2 ? "images of " + std::to_string(shape[0]) + " × " + std::to_string(shape[1]) : "");
  html += fact("Classes", grouped(static_cast<std::int64_t>(report.classes.size())));
  html += fact("k", grouped(report.k), "neighbours that vote");
  html += fact("Metric", escape(report.metric));
  html += fact("Device", escape(report.device.spec), escape(report.device.name));
  html += fact("Search", seconds_text(report.trace.total_seconds),
               grouped(std::llround(static_cast<double>(report.queries->rows) /
                                    std::max(report.trace.total_seconds, 1e-9))) +
                   " queries a second");
  return html + "</dl></header>\n";
}

std::string mistakes(const Report& report) {
  const auto pairs = report.confusion.mistakes();
  if (pairs.empty()) return "<h3 style=\"margin-top:0\">No mistakes</h3>";
  std::string html = "<h3 style=\"margin-top:0\">Most frequent mistakes</h3><ol class=\"pairs\">";
  for (std::size_t i = 0; i < std::min(pairs.size(), listed_pairs); ++i)
    html += "<li><span>" + escape(report.classes[pairs[i].truth]) + " → " +
            escape(report.classes[pairs[i].predicted]) + "</span><span class=\"count\">" +
            grouped(pairs[i].count) + "</span><b style=\"width:" +
            decimal(100 * static_cast<double>(pairs[i].count) / static_cast<double>(pairs[0].count), 1) +
            "%\"></b></li>";
  return html + "</ol>";
}

std::string confusion_section(const Report& report) {
  return "<section><h2>Which class was taken for which</h2><p class=\"note\">A row is a true class, a column "
         "what its rows "
         "were taken for: right ones on the diagonal. The stronger the colour, the larger the share of its "
         "row.</p>"
         "<div class=\"columns\"><div class=\"wide\">" +
         heat_map(report.confusion, report.classes) + "</div><div class=\"narrow\">" + mistakes(report) +
         "</div></div></section>\n";
}

std::string bar(double share) {
  if (std::isnan(share)) return "<td class=\"bar\"><span>–</span></td>";
  return "<td class=\"bar\"><span>" + percent(share, 1) +
         "</span><b style=\"width:" + decimal(70 * share, 1) + "px\"></b></td>";
}

/// The mean over the classes where the value is defined.
template <class Value>
double mean(std::size_t classes, Value value) {
  double sum = 0, count = 0;
  for (std::size_t c = 0; c < classes; ++c)
    if (!std::isnan(value(c))) sum += value(c), ++count;
  return count > 0 ? sum / count : std::nan("");
}

std::string class_section(const Report& report) {
  const Confusion& confusion = report.confusion;
  std::vector<std::size_t> listed(report.classes.size());
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
            grouped(static_cast<std::int64_t>(report.classes.size())) + " are listed.";
  }
  html +=
      "</p><div class=\"scroll\"><table><thead><tr><th>class</th><th class=\"n\">rows</th><th "
      "class=\"n\">taken for it</th>"
      "<th class=\"n\">right</th><th>precision</th><th>recall</th><th>F1</th></tr></thead><tbody>";
  for (std::size_t c : listed)
    html += "<tr><td>" + escape(report.classes[c]) + "</td><td class=\"n\">" + grouped(confusion.truth(c)) +
            "</td><td class=\"n\">" + grouped(confusion.predicted(c)) + "</td><td class=\"n\">" +
            grouped(confusion.at(c, c)) + "</td>" + bar(confusion.precision(c)) + bar(confusion.recall(c)) +
            bar(confusion.f1(c)) + "</tr>\n";
  const std::size_t classes = confusion.classes();
  html += "</tbody><tfoot><tr><td>all, and the mean of the classes</td><td class=\"n\">" +
          grouped(confusion.total()) + "</td><td class=\"n\">" + grouped(confusion.total()) +
          "</td><td class=\"n\">" + grouped(confusion.correct()) + "</td>" +
          bar(mean(classes, [&](std::size_t c) { return confusion.precision(c); })) +
          bar(mean(classes, [&](std::size_t c) { return confusion.recall(c); })) +
          bar(mean(classes, [&](std::size_t c) { return confusion.f1(c); })) + "</tr></tfoot>";
  return html + "</table></div></section>\n";
}

std::string sweep_section(const Report& report) {
  return "<section><h2>Other numbers of neighbours</h2><p class=\"note\">Accuracy for each k that was asked "
         "for, all from one search for the "
         "largest. The dashed line is the k of the rest of this page; a filled dot is the best.</p><div "
         "class=\"scroll\">" +
         sweep_chart(report.sweep, report.confusion.total(), report.k) + "</div></section>\n";
}

std::string time_row(const std::string& name, double seconds, double whole) {
  return "<tr><td class=\"stage\">" + escape(name) + "</td><td class=\"bar\"><span>" + seconds_text(seconds) +
         "</span><b class=\"time\" style=\"width:" +
         decimal(whole > 0 ? 160 * std::min(1.0, seconds / whole) : 0, 1) + "px\"></b></td></tr>";
}

/// Stages in the order in which a search goes through them; others last.
std::vector<std::pair<std::string, double>> in_order(const std::map<std::string, double>& seconds) {
  constexpr std::array order = {"upload", "distance", "select",   "nearest",
                                "merge",  "vote",     "download", "finish"};
  std::vector<std::pair<std::string, double>> result(seconds.begin(), seconds.end());
  const auto place = [&](const std::string& stage) {
    return std::find(order.begin(), order.end(), stage) - order.begin();
  };
  std::stable_sort(result.begin(), result.end(),
                   [&](const auto& a, const auto& b) { return place(a.first) < place(b.first); });
  return result;
}

}  // namespace

std::string how(const Report& report) {
  double whole = 0;
  for (const auto& [stage, seconds] : report.seconds) whole += seconds;
  std::string html =
      "<section><h2>How it was done</h2><p class=\"note\">The result does not depend on any of this: every "
      "device of kith "
      "returns the same bits.</p><div class=\"columns\"><div class=\"half\"><h3 "
      "style=\"margin-top:0\">Seconds of the run</h3><table><tbody>";
  for (const auto& [stage, seconds] : report.seconds) html += time_row(stage, seconds, whole);
  html += "</tbody></table><h3>Seconds inside the search</h3><table><tbody>";
  for (const auto& [stage, seconds] : in_order(report.trace.seconds))
    html += time_row(stage, seconds, report.trace.total_seconds);
  html += "</tbody></table></div><div class=\"half\"><h3 style=\"margin-top:0\">Device</h3><pre>" +
          escape(report.device.spec) + "  " + escape(report.device.name) + "\n" +
          escape(report.device.platform) +
          (report.device.driver.empty() ? "" : ", " + escape(report.device.driver)) +
          "</pre><h3>Plan</h3><pre>" + escape(explain(report.trace.plan)) +
          "</pre></div></div><h3>Command</h3><pre>" + escape(report.command) + "</pre></section>\n";
  return html;
}

std::string html(const Report& report) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">"
      "<title>kith: " +
      percent(accuracy(report), 2) + " of " + file_name(report.queries->path) + "</title><style>" +
      std::string(style) + "</style></head><body><main>\n" + head(report) + confusion_section(report) +
      class_section(report);
  if (!report.sweep.empty()) page += sweep_section(report);
  if (!report.samples.empty()) page += samples(report);
  page += how(report);
  return page + "<footer>" + written_by() + "</footer>\n</main></body></html>\n";
}

}  // namespace kith::report
