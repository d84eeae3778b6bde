// The page of an evaluation, and what it shares with that of a classification.
#include <filesystem>

#include "report/parts.hpp"
#include "report/text.hpp"

namespace kith::report {
namespace {

std::string head(const EvaluationReport& report) {
  const Confusion& confusion = report.confusion;
  std::string html =
      headline("Exact k-nearest-neighbour classification: how many neighbours?", confusion,
               "With k = " + grouped(report.best_k) + ", the best of 1 to " + grouped(report.sweep.back().k) +
                   ", " + grouped(confusion.correct()) + " of " + grouped(confusion.total()) +
                   " rows were given their true class. Asked was " + escape(report.asked) + ".");
  html += "<dl class=\"facts\">" + fact("Training rows", grouped(report.n), file_name(report.path)) +
          fact("Dimensions", grouped(report.dims), "columns as they are searched") +
          fact("Classes", grouped(static_cast<std::int64_t>(report.classes.size()) - report.no_answer)) +
          fact("Best k", grouped(report.best_k), "of several as good the smallest") +
          fact("Metric", escape(report.metric));
  for (const auto& [name, value] : report.settings) html += fact(escape(name), escape(value));
  return html + fact("Device", escape(report.device.spec), escape(report.device.name)) +
         fact("Search", seconds_text(report.trace.total_seconds), "one, for every k") + "</dl></header>\n";
}

/// Every number of the chart.
std::string numbers(const EvaluationReport& report) {
  std::string html =
      "<details><summary>The numbers</summary><div class=\"scroll\"><table><thead><tr><th "
      "class=\"n\">k</th><th class=\"n\">right</th><th class=\"n\">accuracy</th></tr></thead><tbody>";
  for (const SweepPoint& point : report.sweep)
    html += "<tr><td class=\"n\">" + grouped(point.k) + "</td><td class=\"n\">" + grouped(point.correct) +
            "</td><td class=\"n\">" +
            percent(static_cast<double>(point.correct) / static_cast<double>(report.confusion.total()), 2) +
            "</td></tr>";
  return html + "</tbody></table></div></details>";
}

std::string chart_section(const EvaluationReport& report) {
  return "<section><h2>Accuracy against k</h2><p class=\"note\">Of one search for the largest k. The dashed "
         "line is the best k, that of the rest of this page; filled dots are as good.</p><div "
         "class=\"scroll\">" +
         sweep_chart(report.sweep, report.confusion.total(), report.best_k) + "</div>" + numbers(report) +
         "</section>\n";
}

}  // namespace

std::string file_name(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return escape(name.empty() ? path : name);
}

std::string fact(const std::string& name, const std::string& value, const std::string& more) {
  return "<div><dt>" + name + "</dt><dd>" + value + (more.empty() ? "" : "<small>" + more + "</small>") +
         "</dd></div>";
}

std::string headline(const std::string& kind, const Confusion& confusion, const std::string& lead) {
  const double share = confusion.accuracy();
  return "<header><p class=\"kind\">" + kind + "</p><h1>" + percent(share, 2) +
         " <small>accuracy</small></h1><p class=\"lead\">" + lead +
         "</p><div class=\"meter\" role=\"img\" aria-label=\"" + percent(share, 2) +
         "\"><i style=\"width:" + decimal(100 * share, 3) + "%\"></i></div>";
}

std::string document(const std::string& title, const std::string& body, const std::string& more_style) {
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
         "content=\"width=device-width, initial-scale=1\"><title>kith: " +
         title + "</title><style>" + std::string(style) + more_style + "</style></head><body><main>\n" +
         body + "<footer>" + written_by() + "</footer>\n</main></body></html>\n";
}

std::string html(const EvaluationReport& report) {
  return document("k = " + std::to_string(report.best_k) + " for " + file_name(report.path),
                  head(report) + chart_section(report) + confusion_section(report.confusion, report.classes) +
                      class_section(report.confusion, report.classes, report.no_answer) + how(report));
}

}  // namespace kith::report
