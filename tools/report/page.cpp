#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "report/parts.hpp"
#include "report/text.hpp"

namespace kith::report {
namespace {

std::string head(const Report& report) {
  const Confusion& confusion = report.confusion;
  const std::string others = report.leave_one_out ? " others" : report.k == 1 ? " neighbour" : " neighbours";
  const std::string voters = report.k == 0 ? "all" + (report.leave_one_out ? others : " training rows") +
                                                 " within " + escape(report.radius)
                             : report.k == 1 ? "their nearest" + (report.leave_one_out ? " other" : others)
                                             : "their " + grouped(report.k) + " nearest" + others;
  std::string html = headline("Exact k-nearest-neighbour classification", confusion,
                              grouped(confusion.correct()) + " of " + grouped(confusion.total()) +
                                  " rows were given their true class by a vote of " + voters + ".");
  html += "<dl class=\"facts\">" +
          fact("Training rows", grouped(report.train->rows), file_name(report.train->path)) +
          fact("Queries", grouped(report.queries->rows),
               report.leave_one_out ? "each training row in turn" : file_name(report.queries->path));
  const auto& shape = report.train->image_shape;
  html += fact(
      "Dimensions", grouped(report.train->cols),
      shape.size() == 2 ? "images of " + std::to_string(shape[0]) + " × " + std::to_string(shape[1]) : "");
  html += fact("Classes", grouped(static_cast<std::int64_t>(report.classes.size()) - report.no_answer));
  html += report.k > 0 ? fact("k", grouped(report.k), "neighbours that vote")
                       : fact("Radius", escape(report.radius), "all rows within it vote");
  html += metric_fact(report.metric);
  for (const auto& [name, value] : report.settings)
    html += fact(escape(name), escape(grouped_numbers(value)));
  html += fact("Device", escape(report.device.spec), escape(report.device.name));
  html += fact("Search", seconds_text(report.trace.total_seconds),
               grouped(std::llround(static_cast<double>(report.queries->rows) /
                                    std::max(report.trace.total_seconds, 1e-9))) +
                   " queries a second");
  return html + "</dl></header>\n";
}

std::string sweep_section(const Report& report) {
  return "<section><h2>Other numbers of neighbours</h2><p class=\"note\">Accuracy for each k that was asked "
         "for, all from one search for the "
         "largest. The dashed line is the k of the rest of this page; a filled dot is the best.</p>" +
         sweep_chart(report.sweep, report.confusion.total(), report.k) + "</section>\n";
}

std::string time_row(const std::string& name, double seconds, double whole) {
  return "<tr><th scope=\"row\">" + escape(name) + "</th><td class=\"bar time\"><span>" +
         seconds_text(seconds) + "</span><b style=\"width:calc(var(--bar)*" +
         decimal(whole > 0 ? std::min(1.0, seconds / whole) : 0, 3) + ")\"></b></td></tr>";
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

std::string how(const How& report) {
  double whole = 0;
  for (const auto& [stage, seconds] : report.seconds) whole += seconds;
  std::string rows, inner_rows;
  for (const auto& [stage, seconds] : report.seconds) rows += time_row(stage, seconds, whole);
  for (const auto& [stage, seconds] : in_order(report.trace.seconds))
    inner_rows += time_row(stage, seconds, report.trace.total_seconds);
  const std::vector<Column> head = {{"stage"}, {"time"}};
  std::string html =
      "<section><h2>How it was done</h2><p class=\"note\">The result does not depend on any of this: every "
      "device of kith returns the same bits.</p><div class=\"columns\"><div class=\"half\"><h3 "
      "class=\"first\">Seconds of the run</h3>" +
      table("Seconds of the run", head, rows);
  if (!inner_rows.empty())
    html += "<h3>Seconds inside the search</h3>" + table("Seconds inside the search", head, inner_rows);
  html += "</div><div class=\"half\"><h3 class=\"first\">Device</h3><pre>" + escape(report.device.spec) +
          "  " + escape(report.device.name) + "\n" + escape(report.device.platform) +
          (report.device.driver.empty() ? "" : ", " + escape(report.device.driver)) + "</pre>" +
          (report.trace.plan.device.empty()
               ? ""
               : "<h3>Plan</h3><pre>" + escape(explain(report.trace.plan)) + "</pre>") +
          "</div></div><h3>Command</h3><pre>" + escape(report.command) + "</pre></section>\n";
  return html;
}

std::string html(const Report& report) {
  std::string page = head(report) + confusion_section(report.confusion, report.classes) +
                     class_section(report.confusion, report.classes, report.no_answer);
  if (!report.sweep.empty()) page += sweep_section(report);
  if (!report.samples.empty()) page += samples(report);
  return document(percent(report.confusion.accuracy(), 2) + " of " + file_title(report.queries->path),
                  page + how(report));
}

}  // namespace kith::report
