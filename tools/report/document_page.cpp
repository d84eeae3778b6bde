// Writes a document as a page.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "report/charts/axis.hpp"
#include "report/document.hpp"
#include "report/parts.hpp"
#include "report/text.hpp"

namespace kith::report {
namespace {

bool is_right(Kind kind) {
  return kind == Kind::whole || kind == Kind::number || kind == Kind::score || kind == Kind::share ||
         kind == Kind::point || kind == Kind::figure;
}

std::string bar(double share) {
  if (std::isnan(share)) return "<td class=\"bar\"><span>–</span></td>";
  return "<td class=\"bar\"><span>" + percent(share, 1) + "</span><b style=\"width:calc(var(--bar)*" +
         decimal(share, 3) + ")\"></b></td>";
}

std::string value_html(const Value& value, Kind kind) {
  if (value.is_null()) return "–";
  if (kind == Kind::html) return value.get<std::string>();
  if (kind == Kind::said || kind == Kind::figure) return said(value.get<std::string>());
  if (kind == Kind::point) return number_text(value.get<double>());
  if (value.is_string()) return name_html(value.get<std::string>());
  if (value.is_number_integer()) return grouped(value.get<std::int64_t>());
  return kind == Kind::share ? percent(value.get<double>(), 2) : value_text(value.get<double>());
}

///   head  title of the column if its cells are sentences
std::string cell(const Value& value, Kind kind, bool first, const std::string& head) {
  const std::string begin = first ? "<th scope=\"row\"" : "<td", end = first ? "</th>" : "</td>";
  if (kind == Kind::bar) return bar(value.get<double>());
  if (kind == Kind::mark)
    return value == "" ? "<td></td>" : "<td><span class=\"is\">" + value.get<std::string>() + "</span></td>";
  const std::string look = is_right(kind)                                               ? " class=\"n\">"
                           : kind == Kind::name || (kind == Kind::html && head.empty()) ? " class=\"name\">"
                           : first || head.empty()                                      ? ">"
                                                   : " data-head=\"" + head + "\">";
  return begin + look + value_html(value, kind) + end;
}

std::string table_html(const Table& shown) {
  std::vector<Column> head;
  std::vector<std::size_t> places;
  for (std::size_t f = 0; f < shown.fields.size(); ++f) {
    const Field& field = shown.fields[f];
    if (field.page.empty() && field.kind != Kind::mark) continue;
    head.push_back({said(field.page), is_right(field.kind)});
    places.push_back(f);
  }
  if (places.empty() || shown.rows == 0) return "";
  const auto line = [&](const std::vector<Value>& values) {
    std::string cells;
    for (std::size_t c = 0; c < places.size(); ++c)
      cells +=
          cell(values[places[c]], shown.fields[places[c]].kind, c == 0, shown.words ? head[c].title : "");
    return "<tr>" + cells + "</tr>\n";
  };
  std::string rows;
  const std::size_t count = shown.listed.empty() ? shown.rows : shown.listed.size();
  for (std::size_t i = 0; i < count; ++i) rows += line(shown.row(shown.listed.empty() ? i : shown.listed[i]));
  const std::string html = table(shown.caption, head, rows, shown.foot.empty() ? "" : line(shown.foot),
                                 shown.words ? "words" : "");
  return shown.folded.empty() ? html
                              : "<details><summary>" + shown.folded + "</summary>" + html + "</details>";
}

std::string pairs_html(const Pairs& pairs) {
  const std::string& title = pairs.first.empty() ? pairs.none : pairs.title;
  if (title.empty()) return "";
  std::string html = (pairs.beside ? "<h3 class=\"first\">" : "<h3>") + title + "</h3>";
  if (pairs.first.empty()) return html;
  html += pairs.beside ? "<ol class=\"pairs\">" : "<ol class=\"pairs two\">";
  for (const Pairs::Pair& pair : pairs.first)
    html += "<li><span>" + name_html(pair.from, pair_name) + pairs.sign + name_html(pair.to, pair_name) +
            "</span><span class=\"count\">" + value_html(pair.value, Kind::number) +
            "</span><b style=\"width:" + decimal(100 * pair.share, 1) + "%\"></b></li>";
  return html + "</ol>";
}

std::string fact_html(const Fact& shown) {
  if (shown.name.empty()) return "";
  const Value& value = shown.value;
  return fact(escape(shown.name),
              !shown.shown.empty() ? shown.shown
              : value.is_string()  ? said(value.get<std::string>())
                                   : value_html(value, Kind::number),
              shown.more);
}

std::string head_html(const Document& document) {
  const Head& head = document.head;
  std::string html = "<header><p class=\"kind\">" + head.kind + "</p><h1>" + head.value + " <small>" +
                     head.unit + "</small></h1><p class=\"lead\">" + head.lead + "</p>";
  if (head.share >= 0)
    html += "<div class=\"meter\" role=\"img\" aria-label=\"" + percent(head.share, 2) +
            " right\"><i style=\"width:" + decimal(100 * head.share, 3) + "%\"></i></div>";
  html += "<dl class=\"facts\">";
  for (const Document::Part& part : document.parts)
    if (const auto* shown = std::get_if<Fact>(&part)) html += fact_html(*shown);
  return html + "</dl></header>\n";
}

std::string sections_html(const Document& document) {
  std::string html, end;
  for (const Document::Part& part : document.parts) {
    if (const auto* section = std::get_if<Section>(&part)) {
      html += end;
      end = section->title.empty() ? "" : "</section>\n";
      if (section->title.empty()) continue;
      html += (section->id.empty() ? "<section>" : "<section id=\"" + section->id + "\">") + "<h2>" +
              section->title + "</h2>" +
              (section->note.empty() ? "" : "<p class=\"note\">" + section->note + "</p>");
    }
    if (const auto* shown = std::get_if<Table>(&part)) html += table_html(*shown);
    if (const auto* pairs = std::get_if<Pairs>(&part)) html += pairs_html(*pairs);
    const auto* picture = std::get_if<Picture>(&part);
    if (picture && picture->beside) {
      html += std::string("<div class=\"") + picture->beside + "\"><div class=\"wide\">" + picture->html() +
              "</div><div class=\"narrow\">";
      end = "</div></div></section>\n";
    } else if (picture) {
      html += picture->html();
    }
  }
  return html + end;
}

std::string time_row(const std::string& name, double seconds, double whole) {
  return "<tr><th scope=\"row\">" + escape(name) + "</th><td class=\"bar time\"><span>" +
         seconds_text(seconds) + "</span><b style=\"width:calc(var(--bar)*" +
         decimal(whole > 0 ? std::min(1.0, seconds / whole) : 0, 3) + ")\"></b></td></tr>";
}

/// Sorts stages in the order of a search; others come last.
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

std::string times(const std::string& title, const std::vector<std::pair<std::string, double>>& seconds,
                  double whole) {
  std::string rows;
  for (const auto& [stage, each] : seconds) rows += time_row(stage, each, whole);
  return rows.empty() ? ""
                      : "<h3 class=\"first\">" + title + "</h3>" + table(title, {{"stage"}, {"time"}}, rows);
}

std::string how_html(const How& how) {
  double whole = 0;
  for (const auto& [stage, seconds] : how.seconds) whole += seconds;
  return "<section><h2>How it was done</h2><p class=\"note\">The result does not depend on any of this: "
         "every device of kith returns the same bits.</p><div class=\"columns\"><div class=\"half\">" +
         times("Seconds of the run", how.seconds, whole) + "</div><div class=\"half\">" +
         times("Seconds inside the search", in_order(how.trace.seconds), how.trace.total_seconds) +
         "</div></div></section>\n";
}

std::string last_html(const How& how, bool searched) {
  const std::string command = "<pre>" + escape(how.command) + "</pre>";
  if (!searched) return "<h2>Command</h2>" + command;
  const DeviceInfo& device = how.device;
  std::string plan;
  if (!how.trace.plan.device.empty())
    plan = "<div class=\"half\"><h3 class=\"first\">Plan</h3><pre>" + escape(explain(how.trace.plan)) +
           "</pre></div>";
  return "<h2>Device and command</h2><div class=\"columns\"><div class=\"half\"><h3 "
         "class=\"first\">Device</h3><pre>" +
         escape(device.spec) + "  " + escape(device.name) + "\n" + escape(device.platform) +
         (device.driver.empty() ? "" : ", " + escape(device.driver)) + "</pre></div>" + plan +
         "</div><h3>Command</h3>" + command;
}

}  // namespace

std::string page(const Document& document) {
  const Head& head = document.head;
  const bool searched = head.alone && !document.how.device.spec.empty();
  const std::string parts = sections_html(document);
  return html_document(
      head.title, (head.alone ? head_html(document) : "") + parts + (searched ? how_html(document.how) : ""),
      last_html(document.how, searched), head.style);
}

}  // namespace kith::report
