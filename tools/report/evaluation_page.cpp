// The page of an evaluation.
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
          metric_fact(report.metric);
  for (const auto& [name, value] : report.settings)
    html += fact(escape(name), escape(grouped_numbers(value)));
  return html + fact("Device", escape(report.device.spec), escape(report.device.name)) +
         fact("Search", seconds_text(report.trace.total_seconds), "one, for every k") + "</dl></header>\n";
}

std::string chart_section(const EvaluationReport& report) {
  return "<section><h2>Accuracy against k</h2><p class=\"note\">Of one search for the largest k. The dashed "
         "line is the best k, that of the rest of this page; filled dots are as good.</p>" +
         sweep_chart(report.sweep, report.confusion.total(), report.best_k) + "</section>\n";
}

}  // namespace

std::string html(const EvaluationReport& report) {
  return document("k = " + grouped(report.best_k) + " for " + file_title(report.path),
                  head(report) + chart_section(report) + confusion_section(report.confusion, report.classes) +
                      class_section(report.confusion, report.classes, report.no_answer) + how(report));
}

}  // namespace kith::report
