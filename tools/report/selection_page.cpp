// A selection of features, as a page.
#include <algorithm>
#include <cmath>
#include <map>

#include "report/charts/axis.hpp"
#include "report/charts/plot.hpp"
#include "report/class_pages.hpp"
#include "report/experiment_page.hpp"
#include "report/parts.hpp"
#include "report/text.hpp"

namespace kith::report {
namespace {

std::string head(const SelectionReport& report) {
  return "<header><p class=\"kind\">Which columns tell classes apart</p><h1>" +
         grouped(static_cast<std::int64_t>(report.best.size())) + " <small>of " + grouped(report.columns) +
         " columns</small></h1><p class=\"lead\">They have the best " + escape(report.score) +
         " of the sets on the way, " + value_text(report.best_score) + "; all columns together have " +
         value_text(report.all_score) + ".</p><dl class=\"facts\">" +
         fact("Rows", grouped(report.rows), file_name(report.path)) +
         fact("Columns to choose from", grouped(report.columns)) + fact("Classes", grouped(report.classes)) +
         fact("Method", escape(report.method)) + fact("What a set is judged by", escape(report.score)) +
         metric_fact(report.metric) + fact("Sets tried", grouped(report.evaluated)) +
         fact("Device", escape(report.device.spec), escape(report.device.name)) + "</dl></header>\n";
}

/// The best score of the steps with so many columns, over their number; and that of all columns.
experiments::Chart chart_of(const SelectionReport& report) {
  std::map<std::int64_t, double> best;
  for (const SelectionStep& step : report.steps) {
    const auto [at, is_new] = best.try_emplace(step.size, step.score);
    if (!is_new && !(step.score <= at->second)) at->second = step.score;
  }
  experiments::Chart chart{report.score + " over the number of columns",
                           {"columns", false},
                           {report.score, false, false},
                           {{report.method + " selection", "", "", {}},
                            {"the best set", "", "", {}},
                            {"all columns", "", "", {}}}};
  for (const auto& [size, score] : best)
    chart.series[0].points.push_back({static_cast<double>(size), score, {}});
  chart.series[1].points.push_back({static_cast<double>(report.best.size()), report.best_score, {}});
  chart.series[2].points.push_back({static_cast<double>(report.columns), report.all_score, {}});
  return chart;
}

std::string steps(const SelectionReport& report) {
  std::string rows;
  for (std::size_t i = 0; i < report.steps.size(); ++i) {
    const SelectionStep& step = report.steps[i];
    rows += "<tr><th scope=\"row\" class=\"n\">" + grouped(static_cast<std::int64_t>(i) + 1) +
            "</th><td class=\"name\">" + (step.added ? "+ " : "− ") + name_html(step.column) + "</td>" +
            number_cell(grouped(step.size)) + number_cell(value_text(step.score)) + "<td>" +
            (step.best ? "<span class=\"is\">best</span>" : "") + "</td></tr>";
  }
  return "<h3>Step by step</h3>" +
         table("Step by step",
               {{"step", true}, {"what was done"}, {"columns", true}, {escape(report.score), true}, {""}},
               rows);
}

std::string chart_section(const SelectionReport& report) {
  return "<section><h2>How many columns?</h2><p class=\"note\">Of several sets of one size the best is "
         "drawn. The "
         "height does not begin at 0.</p>" +
         line_chart(chart_of(report)) + steps(report) + "</section>\n";
}

std::string best_section(const SelectionReport& report) {
  std::string html =
      "<section><h2>The best set</h2><p class=\"note\">Of several with the same score it is the "
      "smallest.</p><p>";
  for (std::size_t i = 0; i < report.best.size(); ++i) html += (i ? ", " : "") + name_html(report.best[i]);
  html += "</p>";
  if (!report.list.empty())
    html += "<h3>For other commands</h3><pre>--features " + escape(report.list) + "</pre>";
  return html + "</section>\n";
}

}  // namespace

std::string html(const SelectionReport& report) {
  return document("columns of " + file_title(report.path),
                  head(report) + chart_section(report) + best_section(report) + how(report),
                  std::string(plot_style) + chart_style);
}

}  // namespace kith::report
