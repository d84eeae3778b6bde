// Makes a document of the published experiments.
#include <algorithm>
#include <set>

#include "lab/reproduce/experiment_page.hpp"
#include "lab/reproduce/experiment_parts.hpp"
#include "report/plain.hpp"
#include "report/text.hpp"

namespace kith::report {
namespace {

/// Adds a list of sentences, for the terminal and for the page.
void add_list(Document& document, const std::string& text_title, const std::string& title,
              const std::vector<std::string>& items, const std::vector<std::string>& on_page) {
  std::string text, html;
  for (const std::string& item : items) text += wrapped("  - ", item);
  for (const std::string& item : on_page) html += "<li>" + said(item) + "</li>";
  if (!items.empty()) document.add(Words{text_title + "\n" + text + "\n"});
  if (!html.empty()) html = "<h3>" + title + "</h3><ul>" + html + "</ul>";
  document.add(Picture{[html] { return html; }});
}

void add_claims(Document& document, const Result& result, const std::vector<Reason>& reasons) {
  if (result.claims.empty()) return;
  document.add(Section{"What the paper says, and what is seen here",
                       "Only figures that the paper gives in its text stand here; what is in charts that we "
                       "do not have is not available."});
  Table table{"The paper and this machine: " + escape(result.name),
              "",
              {{Kind::said, "", "what"},
               {Kind::said, "", "paper"},
               {Kind::said, "", "here"},
               {Kind::html, "", "why they differ"}},
              result.claims.size(),
              {}};
  table.row = [=](std::size_t i) -> std::vector<Value> {
    const Claim& claim = result.claims[i];
    return {claim.what, claim.paper, claim.here, why_text(claim, reasons)};
  };
  table.words = true;
  document.add(std::move(table));
}

/// Returns whether the paper's own numbers stand beside ours, as a series or in a table.
bool has_figures_of_paper(const Result& result, const Chart& chart) {
  const auto of_paper = [](const std::string& text) {
    return text.starts_with("paper") || text.starts_with("the paper");
  };
  return std::any_of(chart.series.begin(), chart.series.end(),
                     [&](const Series& series) { return of_paper(series.label); }) ||
         std::any_of(result.tables.begin(), result.tables.end(), [&](const experiments::Table& table) {
           return std::any_of(table.head.begin(), table.head.end(), of_paper);
         });
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.,-+e–x ") == std::string::npos;
}

/// Adds a table with one row for each x and a column for each series. The terminal shows only series that
/// have points, numbered if their labels are too long for a line.
///   what  HTML without elements
void add_numbers(Document& document, const Chart& chart, const std::string& caption, const std::string& what,
                 bool joules) {
  Table table{caption + ": " + what, "", {{Kind::point, chart.x.title, chart.x.title}}, 0, {}};
  std::set<double> values;
  std::size_t width = columns(chart.x.title), shown = 0;
  std::string key;
  const auto in_text = [](const Series& series) {
    return std::any_of(series.points.begin(), series.points.end(),
                       [](const Point& point) { return std::isfinite(point.y); });
  };
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) values.insert(point.x);
    if (in_text(series)) width += 2 + columns(series.label);
  }
  for (const Series& series : chart.series) {
    std::string title;
    if (in_text(series)) {
      title = series.label;
      ++shown;
      if (width > line_width) {
        title = "[" + std::to_string(shown) + "]";
        key += "  " + title + " " + series.label + "\n";
      }
    }
    table.fields.push_back({Kind::point, title, series.label});
  }
  if (shown == 0) table.fields[0].text.clear();
  document.add(Words{shown == 0 ? "nothing could be measured here; the notes say why\n" : key});
  const std::vector<double> x(values.begin(), values.end());
  table.rows = x.size();
  table.row = [&chart, x, joules](std::size_t i) {
    std::vector<Value> row = {x[i]};
    for (const Series& series : chart.series) {
      const auto at = std::find_if(series.points.begin(), series.points.end(),
                                   [&](const Point& point) { return point.x == x[i]; });
      const bool none = at == series.points.end() || (joules && !at->joules);
      row.emplace_back(none ? Value() : Value(joules ? *at->joules : at->y));
    }
    return row;
  };
  table.folded = what;
  document.add(std::move(table));
}

bool has_joules(const Chart& chart) {
  return std::any_of(chart.series.begin(), chart.series.end(), [](const Series& series) {
    return std::any_of(series.points.begin(), series.points.end(),
                       [](const Point& point) { return point.joules.has_value(); });
  });
}

void add_chart(Document& document, const Result& result, const Chart& chart) {
  const std::string caption = escape(result.name) + ", " + said(chart.title);
  document.add(Section{said(chart.title)});
  document.add(Words{chart.title + "\n" + chart.y.title + "\n"});
  document.add(Picture{[&chart] { return line_chart(chart, reasons_id); }});
  add_numbers(document, chart, caption, "The numbers: " + said(chart.y.title), false);
  if (has_joules(chart)) {
    document.add(Words{"joules a run\n"});
    add_numbers(document, chart, caption, "Energy: joules a run", true);
  }
  const bool given = has_figures_of_paper(result, chart);
  document.add(Words{given ? "\n" : "the paper's own figures, point by point: not available\n\n"});
}

void add_table(Document& document, const Result& result, const experiments::Table& shown) {
  document.add(Section{said(shown.title)});
  document.add(Words{shown.title + "\n"});
  Table table{escape(result.name) + ", " + said(shown.title), "", {}, shown.rows.size(), {}};
  for (std::size_t c = 0; c < shown.head.size(); ++c) {
    const bool numeric = !shown.rows.empty() &&
                         std::all_of(shown.rows.begin(), shown.rows.end(),
                                     [&](const auto& row) { return c >= row.size() || is_number(row[c]); });
    table.fields.push_back({numeric ? Kind::figure : Kind::said, shown.head[c], shown.head[c]});
  }
  table.row = [&shown](std::size_t i) {
    std::vector<Value> row(shown.rows[i].begin(), shown.rows[i].end());
    row.resize(shown.head.size(), "");
    return row;
  };
  document.add(std::move(table));
  document.add(Words{"\n"});
}

void add_checks(Document& document, const Result& result) {
  Table table{"Checks of " + escape(result.name),
              "",
              {{Kind::said, "", "what was compared"}, {Kind::html, "", "bits"}},
              result.checks.size(),
              {}};
  table.row = [&result](std::size_t i) -> std::vector<Value> {
    const Check& check = result.checks[i];
    return {check.what, std::string("<span class=\"") + (check.passed ? "is\">same" : "not\">different") +
                            "</span>" + (check.detail.empty() ? "" : ": " + said(check.detail))};
  };
  table.words = true;
  document.add(std::move(table));
}

void add_result(Document& document, const Result& result, const std::vector<Reason>& reasons, bool only_one) {
  document.add(Words{introduction(result)});
  document.add(Picture{[&result, only_one] { return "<article>" + experiment_head(result, only_one); }});
  add_claims(document, result, reasons);
  for (const Chart& chart : result.charts) add_chart(document, result, chart);
  for (const experiments::Table& shown : result.tables) add_table(document, result, shown);
  document.add(Words{claims_text(result)});
  document.add(Section{"How it was measured"});
  add_list(document, "assumed, because the paper leaves it open", "Assumed, because the paper leaves it open",
           result.assumed, result.assumed);
  add_list(document, "what ran", "What ran", result.plans, result.plans);
  add_list(document, "notes", "Notes", result.notes, other_notes(result, reasons));
  document.add(Words{wrapped("energy: ", result.energy) + checks_lines(result)});
  document.add(
      Picture{[&result] { return "<h3>Energy</h3><p>" + said(result.energy) + "</p><h3>Checks</h3>"; }});
  add_checks(document, result);
  document.add(Section{});
  document.add(Picture{[] { return std::string("</article>\n"); }});
}

void add_reasons(Document& document, const std::vector<Reason>& reasons) {
  if (reasons.empty()) return;
  document.add(Section{"Not measured here", "", reasons_id});
  Table table{
      "Not measured here", "", {{Kind::html, "", "what"}, {Kind::said, "", "why"}}, reasons.size(), {}};
  table.row = [reasons](std::size_t i) -> std::vector<Value> {
    std::string what;
    for (const std::string& one : reasons[i].what) what += (what.empty() ? "" : "<br>") + said(one);
    return {what, reasons[i].why};
  };
  table.words = true;
  document.add(std::move(table));
}

/// Returns the CSV, which has a line for each point.
Table points_of(const std::vector<Result>& results) {
  std::vector<std::vector<Value>> rows;
  for (const Result& result : results)
    for (const Chart& chart : result.charts)
      for (const Series& series : chart.series)
        for (const Point& point : series.points)
          rows.push_back({result.name, chart.title, chart.x.title, chart.y.title, series.label, series.device,
                          point.x, point.y, point.joules ? Value(*point.joules) : Value()});
  Table table{"", "", {}, rows.size(), [rows](std::size_t i) { return rows[i]; }};
  for (const char* name : {"experiment", "chart", "x_title", "y_title", "series", "device"})
    table.fields.push_back({Kind::name, "", "", "", name});
  for (const char* name : {"x", "y", "joules"}) table.fields.push_back({Kind::point, "", "", "", name});
  return table;
}

}  // namespace

Document experiment_document(const std::vector<Result>& results, const std::string& command,
                             const std::string& missing) {
  const bool only_one = results.size() == 1;
  Document document;
  document.head.title =
      only_one ? said(results[0].title) : "Published k-nearest-neighbour experiments, run again";
  document.head.alone = false;
  document.head.style = experiment_style;
  document.how.command = command;
  const std::string title = document.head.title;
  document.add(Picture{[&results, title, missing] { return top_picture(results, title, missing); }});
  const std::vector<Reason> reasons = reasons_of(results);
  for (const Result& result : results) add_result(document, result, reasons, only_one);
  add_reasons(document, reasons);
  document.add(points_of(results));
  return document;
}

std::string experiment_page(const std::vector<Result>& results, const std::string& command,
                            const std::string& missing) {
  return page(experiment_document(results, command, missing));
}

}  // namespace kith::report
