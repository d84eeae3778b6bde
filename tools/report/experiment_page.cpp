#include "report/experiment_page.hpp"

#include <algorithm>
#include <set>

#include "report/axis.hpp"
#include "report/parts.hpp"
#include "report/plot.hpp"
#include "report/text.hpp"

namespace kith::report {
namespace {

using experiments::Chart;
using experiments::Check;
using experiments::Claim;
using experiments::Result;
using experiments::Series;

const char* const page_style = R"css(
dl.facts { background: var(--card); gap: 0; }
dl.facts dd { font-size: 15.5px; line-height: 1.4; }
dl.facts div { box-shadow: 0 0 0 .5px var(--line); }
h1.long { font-size: 38px; line-height: 1.18; margin-bottom: 14px; max-width: 24em; }
h2.long { font-size: 27px; line-height: 1.2; }
section p { max-width: 62em; }
section > ul { margin: 6px 0 0; padding-left: 20px; max-width: 62em; }
section > ul li { margin: 3px 0; overflow-wrap: anywhere; }
section > .scroll { margin-top: 12px; max-height: none; }
details { margin-top: 14px; font-size: 14.5px; }
summary { cursor: pointer; color: var(--quiet); }
table.words td { white-space: normal; vertical-align: top; min-width: 8em; max-width: 30em; }
table.words td.reason { min-width: 16em; }
nav { margin-top: 18px; } nav a { color: inherit; margin-right: 18px; }
main > article + article { margin-top: 72px; } main > nav + article { margin-top: 44px; }
@media (max-width: 640px) {
  h1.long { font-size: 28px; } h2.long { font-size: 22px; }
  table.words thead { display: none; }
  table.words tr { display: block; padding: 10px 0; border-bottom: 1px solid var(--line); }
  table.words td { display: block; border: 0; padding: 2px 0; max-width: none; }
  table.words td::before { content: attr(data-head) ": "; color: var(--quiet); font-size: 13px; }
}
)css";

std::string paragraphs(const std::vector<std::string>& texts) {
  std::string html;
  for (const std::string& text : texts) html += "<p>" + escape(text) + "</p>";
  return html;
}

std::string list(const std::string& title, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string html = "<h3>" + title + "</h3><ul>";
  for (const std::string& item : items) html += "<li>" + escape(item) + "</li>";
  return html + "</ul>";
}

std::string fact(const std::string& name, const std::string& value, const std::string& more = {}) {
  return "<div><dt>" + name + "</dt><dd>" + escape(value) +
         (more.empty() ? "" : "<small>" + escape(more) + "</small>") + "</dd></div>";
}

std::string checks_text(const Result& result) {
  const auto passed = std::count_if(result.checks.begin(), result.checks.end(),
                                    [](const Check& check) { return check.passed; });
  return std::to_string(passed) + " of " + std::to_string(result.checks.size()) + " passed";
}

std::string head(const Result& result, bool only_one) {
  const std::string tag = only_one ? "h1" : "h2";
  std::string html = "<header id=\"" + escape(result.name) +
                     "\"><p class=\"kind\">A published experiment, run again: " + escape(result.name) +
                     "</p><" + tag + " class=\"long\">" + escape(result.title) + "</" + tag + ">" +
                     paragraphs(result.explanation) + "<dl class=\"facts\">";
  html += fact("The paper", result.paper);
  html += fact("Its hardware", result.hardware, "ratios can be compared, absolute times cannot");
  for (const std::string& device : result.devices) {
    const std::size_t colon = device.find(": ");
    html += fact("Measured here", device.substr(0, colon),
                 colon == std::string::npos ? "" : device.substr(colon + 2));
  }
  html += fact("Same bits as the CPU", checks_text(result), "what gives other bits is not timed");
  if (result.quick) html += fact("Sizes", "quick", "for a small machine; not those of the paper");
  return html + "</dl></header>\n";
}

std::string claim_row(const Claim& claim) {
  return "<tr><td data-head=\"What\">" + escape(claim.what) + "</td><td data-head=\"Paper\">" +
         escape(claim.paper) + "</td><td data-head=\"Here\">" + escape(claim.here) +
         "</td><td class=\"reason\" data-head=\"Why\">" +
         (claim.why.empty() ? "they agree" : escape(claim.why)) + "</td></tr>";
}

std::string claims(const Result& result) {
  if (result.claims.empty()) return "";
  std::string html =
      "<section><h2>What the paper says, and what is seen here</h2><p class=\"note\">Only figures that the "
      "paper "
      "gives in its text stand here; what is in charts that we do not have is not available.</p><div "
      "class=\"scroll\"><table class=\"words\"><thead><tr><th>what</th><th>paper</th><th>here</th><th>why "
      "they "
      "differ</th></tr></thead><tbody>";
  for (const Claim& claim : result.claims) html += claim_row(claim);
  return html + "</tbody></table></div></section>\n";
}

/// One row for each x, a column for each series.
template <class Cell>
std::string numbers(const Chart& chart, const std::string& title, Cell cell) {
  std::set<double> values;
  for (const Series& series : chart.series)
    for (const experiments::Point& point : series.points) values.insert(point.x);
  std::string html = "<details><summary>" + title +
                     "</summary><div class=\"scroll\"><table><thead><tr><th class=\"n\">" +
                     escape(chart.x.title) + "</th>";
  for (const Series& series : chart.series) html += "<th class=\"n\">" + escape(series.label) + "</th>";
  html += "</tr></thead><tbody>";
  for (double x : values) {
    html += "<tr><td class=\"n\">" + number_text(x) + "</td>";
    for (const Series& series : chart.series) {
      const auto found = std::find_if(series.points.begin(), series.points.end(),
                                      [&](const experiments::Point& point) { return point.x == x; });
      html += "<td class=\"n\">" + (found == series.points.end() ? "–" : cell(*found)) + "</td>";
    }
    html += "</tr>";
  }
  return html + "</tbody></table></div></details>";
}

bool has_joules(const Chart& chart) {
  return std::any_of(chart.series.begin(), chart.series.end(), [](const Series& series) {
    return std::any_of(series.points.begin(), series.points.end(),
                       [](const experiments::Point& point) { return point.joules.has_value(); });
  });
}

std::string chart_section(const Chart& chart) {
  std::string html = "<section><h2>" + escape(chart.title) + "</h2>" + line_chart(chart) +
                     numbers(chart, "The numbers: " + escape(chart.y.title),
                             [](const experiments::Point& point) { return number_text(point.y); });
  if (has_joules(chart))
    html += numbers(chart, "Energy: joules a run", [](const experiments::Point& point) {
      return point.joules ? number_text(*point.joules) : std::string("–");
    });
  return html + "</section>\n";
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.,-+e–x ") == std::string::npos;
}

std::string table_section(const experiments::Table& table) {
  std::string html = "<section><h2>" + escape(table.title) + "</h2><div class=\"scroll\"><table><thead><tr>";
  const auto kind = [&](std::size_t column) {
    const bool numeric = std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
      return column >= row.size() || is_number(row[column]);
    });
    return std::string(numeric && !table.rows.empty() ? " class=\"n\"" : "");
  };
  for (std::size_t c = 0; c < table.head.size(); ++c)
    html += "<th" + kind(c) + ">" + escape(table.head[c]) + "</th>";
  html += "</tr></thead><tbody>";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) html += "<td" + kind(c) + ">" + escape(row[c]) + "</td>";
    html += "</tr>";
  }
  return html + "</tbody></table></div></section>\n";
}

std::string check_row(const Check& check) {
  return "<tr><td>" + escape(check.what) + "</td><td><span class=\"" +
         (check.passed ? "is\">same" : "not\">different") + "</span>" +
         (check.detail.empty() ? "" : ": " + escape(check.detail)) + "</td></tr>";
}

std::string how_section(const Result& result) {
  std::string html = "<section><h2>How it was measured</h2>";
  html += list("What ran", result.plans) + list("Assumed, because the paper leaves it open", result.assumed) +
          list("Notes", result.notes) + "<h3>Energy</h3><p>" + escape(result.energy) +
          "</p><h3>Checks</h3><div "
          "class=\"scroll\"><table class=\"words\"><tbody>";
  for (const Check& check : result.checks) html += check_row(check);
  return html + "</tbody></table></div></section>\n";
}

std::string article(const Result& result, bool only_one) {
  std::string html = "<article>" + head(result, only_one) + claims(result);
  for (const Chart& chart : result.charts) html += chart_section(chart);
  for (const experiments::Table& table : result.tables) html += table_section(table);
  return html + how_section(result) + "</article>\n";
}

}  // namespace

std::string experiment_page(const std::vector<Result>& results, const std::string& command) {
  const bool only_one = results.size() == 1;
  const std::string title =
      only_one ? results[0].title : "Published k-nearest-neighbour experiments, run again";
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"><title>kith: " +
      escape(title) + "</title><style>" + std::string(style) + plot_style + chart_style + page_style +
      "</style></head><body><main>\n";
  if (!only_one) {
    page += "<h1 class=\"long\">" + title + "</h1><nav>";
    for (const Result& result : results)
      page += "<a href=\"#" + escape(result.name) + "\">" + escape(result.name) + "</a>";
    page += "</nav>\n";
  }
  for (const Result& result : results) page += article(result, only_one);
  return page + "<section><h2>Command</h2><pre>" + escape(command) + "</pre></section>\n<footer>" +
         written_by() + "</footer>\n</main></body></html>\n";
}

}  // namespace kith::report
