#include "lab/reproduce/experiment_parts.hpp"

#include <algorithm>

#include "report/charts/plot.hpp"
#include "report/parts.hpp"
#include "report/plain.hpp"
#include "report/text.hpp"

namespace kith::report {
namespace {

std::string paragraphs(const std::vector<std::string>& texts) {
  std::string html;
  for (const std::string& text : texts) html += "<p>" + said(text) + "</p>";
  return html;
}

std::string said_fact(const std::string& name, const std::string& value, const std::string& more = {}) {
  return report::fact(name, said(value), said(more));
}

std::string checks_text(const Result& result) {
  const auto passed = std::count_if(result.checks.begin(), result.checks.end(),
                                    [](const Check& check) { return check.passed; });
  return std::to_string(passed) + " of " + std::to_string(result.checks.size()) + " passed";
}

/// Returns whether `text` contains one of the reasons.
bool says_reason(const std::string& text, const std::vector<Reason>& reasons) {
  return std::any_of(reasons.begin(), reasons.end(),
                     [&](const Reason& reason) { return text.find(reason.why) != std::string::npos; });
}

}  // namespace

const char* const experiment_style = R"css(
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

std::string experiment_head(const Result& result, bool only_one) {
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

std::string why_text(const Claim& claim, const std::vector<Reason>& reasons) {
  if (claim.why.empty()) return "they agree";
  if (says_reason(claim.why, reasons))
    return std::string("<a href=\"#") + reasons_id + "\">not measured here</a>";
  return said(claim.why);
}

std::string wrapped(const std::string& first, const std::string& text) {
  std::string result, line = first;
  const std::size_t indent = columns(first);
  bool empty = true;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!empty && columns(line) + 1 + columns(word) > line_width) {
      result += line + "\n";
      line = std::string(indent, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
    begin = end + 1;
  }
  return result + line + "\n";
}

std::string claims_text(const Result& result) {
  std::string text = "paper and here\n";
  for (const Claim& claim : result.claims)
    text += wrapped("  - ", claim.what) + wrapped("      paper  ", claim.paper) +
            wrapped("      here   ", claim.here) +
            (claim.why.empty() ? "" : wrapped("      why    ", claim.why));
  return result.claims.empty() ? "" : text + "\n";
}

std::vector<std::string> other_notes(const Result& result, const std::vector<Reason>& reasons) {
  std::vector<std::string> notes = result.notes;
  std::erase_if(notes, [&](const std::string& note) { return says_reason(note, reasons); });
  return notes;
}

std::string checks_lines(const Result& result) {
  std::string text;
  std::size_t passed = 0;
  for (const Check& check : result.checks) {
    passed += check.passed;
    if (!check.passed) text += wrapped("  DIFFERENT  ", check.what + ": " + check.detail);
  }
  return "checks: " + std::to_string(passed) + " of " + std::to_string(result.checks.size()) +
         " gave the same bits" + (text.empty() ? "" : "; what gave others was not timed") + "\n" + text;
}

std::string introduction(const Result& result) {
  std::string text =
      result.name + ": " + result.title + "\n" + wrapped("  paper     ", result.paper) +
      wrapped("  hardware  ", result.hardware + " (ratios can be compared, absolute times cannot)");
  for (const std::string& device : result.devices) text += wrapped("  here      ", device);
  if (result.quick) text += "  sizes     quick, for a small machine; not those of the paper\n";
  text += "\n";
  for (const std::string& paragraph : result.explanation) text += wrapped("", paragraph) + "\n";
  return text;
}

std::string top_picture(const std::vector<Result>& results, const std::string& title,
                        const std::string& missing) {
  std::string html;
  if (!missing.empty())
    html += "<p class=\"missing\" role=\"note\"><strong>Not whole.</strong> " + escape(missing) + "</p>\n";
  if (results.size() == 1) return html;
  html += "<h1 class=\"long\">" + title + "</h1><nav aria-label=\"Experiments\">";
  for (const Result& result : results)
    html += "<a href=\"#" + escape(result.name) + "\">" + escape(result.name) + "</a>";
  return html + "</nav>\n";
}

}  // namespace kith::report
