#include "report/experiment_page.hpp"

#include <algorithm>
#include <set>

#include "report/charts/axis.hpp"
#include "report/charts/plot.hpp"
#include "report/parts.hpp"
#include "report/text.hpp"

namespace kith::report {
namespace {

using experiments::Chart;
using experiments::Check;
using experiments::Claim;
using experiments::Result;
using experiments::Series;

constexpr const char* reasons_id = "not-measured";

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
table.words tr > * { white-space: normal; vertical-align: top; min-width: 8em; max-width: 30em; overflow-wrap: anywhere; }
table.words tr > :last-child { min-width: 16em; }
p.missing { border-left: 4px solid currentColor; padding: 6px 14px; margin: 0 0 28px; max-width: 62em; }
nav { margin-top: 18px; } nav a { color: inherit; margin-right: 18px; } table a { color: inherit; }
main > article + article { margin-top: 72px; } main > nav + article { margin-top: 44px; }
@media (max-width: 640px) {
  h1.long { font-size: 28px; } h2.long { font-size: 22px; } dl.facts { grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); }
  table.words thead { display: none; }
  table.words tr { display: block; padding: 10px 0; border-bottom: 1px solid var(--line); }
  table.words tr > * { display: block; border: 0; padding: 2px 0; min-width: 0; max-width: none; }
  table.words [data-head]::before { content: attr(data-head) ": "; color: var(--quiet); font-size: 13px; }
}
@media print {
  h1.long { font-size: 26px; } h2.long { font-size: 21px; margin-bottom: 6px; }
  dl.facts { grid-template-columns: repeat(3, 1fr); } dl.facts dd { font-size: 12px; }
  main > article + article, main > nav + article { margin-top: 36px; border-top: 3px solid var(--ink); padding-top: 12px; }
  h2:has(+ .chart) { break-after: avoid; } .chart { break-inside: avoid; }
  section > ul { font-size: 12px; } section p { margin: 6px 0; }
  table.words tr > * { min-width: 6em; }
}
)css";

/// What an experiment says, for HTML.
std::string said(const std::string& text) {
  return escape(grouped_numbers(text));
}

std::string paragraphs(const std::vector<std::string>& texts) {
  std::string html;
  for (const std::string& text : texts) html += "<p>" + said(text) + "</p>";
  return html;
}

std::string list(const std::string& title, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string html = "<h3>" + title + "</h3><ul>";
  for (const std::string& item : items) html += "<li>" + said(item) + "</li>";
  return html + "</ul>";
}

/// A row of sentences; its first cell says what the others are about.
std::string words_row(const std::vector<Column>& head, const std::vector<std::string>& cells) {
  std::string html = "<tr><th scope=\"row\">" + cells[0] + "</th>";
  for (std::size_t c = 1; c < cells.size(); ++c)
    html += "<td data-head=\"" + head[c].title + "\">" + cells[c] + "</td>";
  return html + "</tr>";
}

std::string said_fact(const std::string& name, const std::string& value, const std::string& more = {}) {
  return report::fact(name, said(value), said(more));
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
                     "</p><" + tag + " class=\"long\">" + said(result.title) + "</" + tag + ">" +
                     paragraphs(result.explanation) + "<dl class=\"facts\">";
  html += said_fact("The paper", result.paper);
  html += said_fact("Its hardware", result.hardware, "ratios can be compared, absolute times cannot");
  for (const std::string& device : result.devices) {
    const std::size_t colon = device.find(": ");
    html += said_fact("Measured here", device.substr(0, colon),
                      colon == std::string::npos ? "" : device.substr(colon + 2));
  }
  html += said_fact("Same bits as the CPU", checks_text(result), "what gives other bits is not timed");
  if (result.quick) html += said_fact("Sizes", "quick", "for a small machine; not those of the paper");
  return html + "</dl></header>\n";
}

/// Why series have no points: each reason once, with all that it is about.
struct Reason {
  std::string why;
  std::vector<std::string> what;
};

std::vector<Reason> reasons_of(const std::vector<Result>& results) {
  std::vector<Reason> reasons;
  for (const Result& result : results)
    for (const Chart& chart : result.charts)
      for (const Series& series : chart.series) {
        if (series.note.empty() || has_points(chart, series)) continue;
        auto at = std::find_if(reasons.begin(), reasons.end(),
                               [&](const Reason& reason) { return reason.why == series.note; });
        if (at == reasons.end()) at = reasons.insert(at, Reason{series.note, {}});
        const std::string what = (results.size() > 1 ? result.name + ": " : "") + series.label;
        if (std::find(at->what.begin(), at->what.end(), what) == at->what.end()) at->what.push_back(what);
      }
  return reasons;
}

/// Whether `text` says one of them.
bool says_reason(const std::string& text, const std::vector<Reason>& reasons) {
  return std::any_of(reasons.begin(), reasons.end(),
                     [&](const Reason& reason) { return text.find(reason.why) != std::string::npos; });
}

std::string why_text(const Claim& claim, const std::vector<Reason>& reasons) {
  if (claim.why.empty()) return "they agree";
  if (says_reason(claim.why, reasons))
    return std::string("<a href=\"#") + reasons_id + "\">not measured here</a>";
  return said(claim.why);
}

std::string claims(const Result& result, const std::vector<Reason>& reasons) {
  if (result.claims.empty()) return "";
  const std::vector<Column> head = {{"what"}, {"paper"}, {"here"}, {"why they differ"}};
  std::string rows;
  for (const Claim& claim : result.claims)
    rows +=
        words_row(head, {said(claim.what), said(claim.paper), said(claim.here), why_text(claim, reasons)});
  return "<section><h2>What the paper says, and what is seen here</h2><p class=\"note\">Only figures that "
         "the "
         "paper gives in its text stand here; what is in charts that we do not have is not available.</p>" +
         table("The paper and this machine: " + escape(result.name), head, rows, "", "words") +
         "</section>\n";
}

/// One row for each x, a column for each series.
///   what  HTML without elements
template <class Cell>
std::string numbers(const Chart& chart, const std::string& what, const std::string& where, Cell cell) {
  std::set<double> values;
  for (const Series& series : chart.series)
    for (const experiments::Point& point : series.points) values.insert(point.x);
  std::vector<Column> head = {{said(chart.x.title), true}};
  for (const Series& series : chart.series) head.push_back({said(series.label), true});
  std::string rows;
  for (double x : values) {
    rows += "<tr><th scope=\"row\" class=\"n\">" + number_text(x) + "</th>";
    for (const Series& series : chart.series) {
      const auto found = std::find_if(series.points.begin(), series.points.end(),
                                      [&](const experiments::Point& point) { return point.x == x; });
      rows += number_cell(found == series.points.end() ? "–" : cell(*found));
    }
    rows += "</tr>";
  }
  return "<details><summary>" + what + "</summary>" + table(where + ": " + what, head, rows) + "</details>";
}

bool has_joules(const Chart& chart) {
  return std::any_of(chart.series.begin(), chart.series.end(), [](const Series& series) {
    return std::any_of(series.points.begin(), series.points.end(),
                       [](const experiments::Point& point) { return point.joules.has_value(); });
  });
}

std::string chart_section(const Result& result, const Chart& chart) {
  const std::string where = escape(result.name) + ", " + said(chart.title);
  std::string html = "<section><h2>" + said(chart.title) + "</h2>" + line_chart(chart, reasons_id) +
                     numbers(chart, "The numbers: " + said(chart.y.title), where,
                             [](const experiments::Point& point) { return number_text(point.y); });
  if (has_joules(chart))
    html += numbers(chart, "Energy: joules a run", where, [](const experiments::Point& point) {
      return point.joules ? number_text(*point.joules) : std::string("–");
    });
  return html + "</section>\n";
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.,-+e–x ") == std::string::npos;
}

std::string table_section(const Result& result, const experiments::Table& shown) {
  const auto numeric = [&](std::size_t column) {
    return !shown.rows.empty() && std::all_of(shown.rows.begin(), shown.rows.end(), [&](const auto& row) {
      return column >= row.size() || is_number(row[column]);
    });
  };
  std::vector<Column> head;
  for (std::size_t c = 0; c < shown.head.size(); ++c) head.push_back({said(shown.head[c]), numeric(c)});
  std::string rows;
  for (const auto& row : shown.rows) {
    rows += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string kind = c < head.size() && head[c].number ? " class=\"n\">" : ">";
      rows += c == 0 ? "<th scope=\"row\"" + kind + said(row[c]) + "</th>"
                     : "<td" + kind + said(row[c]) + "</td>";
    }
    rows += "</tr>";
  }
  return "<section><h2>" + said(shown.title) + "</h2>" +
         table(escape(result.name) + ", " + said(shown.title), head, rows) + "</section>\n";
}

std::string check_row(const std::vector<Column>& head, const Check& check) {
  return words_row(head, {said(check.what), std::string("<span class=\"") +
                                                (check.passed ? "is\">same" : "not\">different") + "</span>" +
                                                (check.detail.empty() ? "" : ": " + said(check.detail))});
}

std::string reasons_section(const std::vector<Reason>& reasons) {
  if (reasons.empty()) return "";
  const std::vector<Column> head = {{"what"}, {"why"}};
  std::string rows;
  for (const Reason& reason : reasons) {
    std::string what;
    for (const std::string& one : reason.what) what += (what.empty() ? "" : "<br>") + said(one);
    rows += words_row(head, {what, said(reason.why)});
  }
  return std::string("<section id=\"") + reasons_id + "\"><h2>Not measured here</h2>" +
         table("Not measured here", head, rows, "", "words") + "</section>\n";
}

/// The notes of an experiment without those that reasons_section() has.
std::vector<std::string> other_notes(const Result& result, const std::vector<Reason>& reasons) {
  std::vector<std::string> notes = result.notes;
  std::erase_if(notes, [&](const std::string& note) { return says_reason(note, reasons); });
  return notes;
}

std::string how_section(const Result& result, const std::vector<Reason>& reasons) {
  std::string html = "<section><h2>How it was measured</h2>";
  html += list("What ran", result.plans) + list("Assumed, because the paper leaves it open", result.assumed) +
          list("Notes", other_notes(result, reasons)) + "<h3>Energy</h3><p>" + said(result.energy) +
          "</p><h3>Checks</h3>";
  const std::vector<Column> head = {{"what was compared"}, {"bits"}};
  std::string rows;
  for (const Check& check : result.checks) rows += check_row(head, check);
  return html + table("Checks of " + escape(result.name), head, rows, "", "words") + "</section>\n";
}

std::string article(const Result& result, const std::vector<Reason>& reasons, bool only_one) {
  std::string html = "<article>" + head(result, only_one) + claims(result, reasons);
  for (const Chart& chart : result.charts) html += chart_section(result, chart);
  for (const experiments::Table& shown : result.tables) html += table_section(result, shown);
  return html + how_section(result, reasons) + "</article>\n";
}

}  // namespace

std::string experiment_page(const std::vector<Result>& results, const std::string& command,
                            const std::string& missing) {
  const bool only_one = results.size() == 1;
  const std::string title =
      only_one ? said(results[0].title) : "Published k-nearest-neighbour experiments, run again";
  std::string page;
  if (!missing.empty())
    page += "<p class=\"missing\" role=\"note\"><strong>Not whole.</strong> " + escape(missing) + "</p>\n";
  if (!only_one) {
    page += "<h1 class=\"long\">" + title + "</h1><nav aria-label=\"Experiments\">";
    for (const Result& result : results)
      page += "<a href=\"#" + escape(result.name) + "\">" + escape(result.name) + "</a>";
    page += "</nav>\n";
  }
  const std::vector<Reason> reasons = reasons_of(results);
  for (const Result& result : results) page += article(result, reasons, only_one);
  page +=
      reasons_section(reasons) + "<section><h2>Command</h2><pre>" + escape(command) + "</pre></section>\n";
  return document(title, page, std::string(plot_style) + chart_style + page_style);
}

}  // namespace kith::report
