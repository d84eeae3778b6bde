// The line charts of the page about an experiment, and the page itself.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "report/charts/axis.hpp"
#include "report/experiment_page.hpp"

using namespace kith;
using namespace kith::report;
using experiments::Chart;
using experiments::Point;
using experiments::Result;
using experiments::Series;

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Series line(const std::string& label, const std::vector<double>& heights) {
  Series series;
  series.label = label;
  for (std::size_t i = 0; i < heights.size(); ++i)
    series.points.push_back({std::pow(2.0, static_cast<double>(i)), heights[i], {}});
  return series;
}

Chart chart_of(const std::vector<Series>& series, bool log = true) {
  return {"Time", {"rows n", log}, {"time, ms", log}, series};
}

/// The heights of all numbers at the ends of lines, from the top.
std::vector<double> label_heights(const std::string& svg) {
  std::vector<double> heights;
  const std::string end = "class=\"number\">";
  for (std::size_t at = 0; (at = svg.find(end, at)) != std::string::npos; at += end.size()) {
    const std::size_t y = svg.rfind(" y=\"", at);
    heights.push_back(std::atof(svg.c_str() + y + 4));
  }
  return heights;
}

Result result_of(const Chart& chart) {
  Result result;
  result.name = "a-name";
  result.title = "a title";
  result.paper = "somebody, 2016";
  result.hardware = "a card";
  result.devices = {"cpu: a processor"};
  result.explanation = {"why & what"};
  result.assumed = {"m = 32"};
  result.notes = {"something was refused"};
  result.claims = {{"ratio", "16x", "1.3x (cpu)", "another card"}};
  result.charts = {chart};
  result.tables = {{"parts", {"what", "ms"}, {{"sort", "12.5"}}}};
  result.checks = {{"bits", true, ""}, {"other bits", false, "row 3 differs"}};
  result.energy = "no joules: no counter";
  return result;
}

}  // namespace

TEST_CASE("axis: numbers for the eye") {
  CHECK(number_text(262144) == "262,144");
  CHECK(number_text(1024.4) == "1,024");
  CHECK(number_text(999) == "999");
  CHECK(number_text(0.05) == "0.05");
  CHECK(number_text(3.14159) == "3.142");
  CHECK(number_text(0) == "0");
  CHECK(number_text(none) == "–");
}

TEST_CASE("axis: linear ticks are round and hold all values") {
  CHECK(linear_ticks(0, 10) == std::vector<double>{0, 2, 4, 6, 8, 10});
  CHECK(linear_ticks(0, 9.1) == std::vector<double>{0, 2, 4, 6, 8, 10});
  CHECK(linear_ticks(0, 100, 3) == std::vector<double>{0, 50, 100});
  CHECK(linear_ticks(-3, 7) == std::vector<double>{-5, 0, 5, 10});
  for (double high : {0.0, 1e-9, 0.37, 5.0, 1234.5, 7e9}) {
    CAPTURE(high);
    const std::vector<double> ticks = linear_ticks(0, high);
    CHECK(ticks.front() == 0);
    CHECK(ticks.back() >= high);
    CHECK(ticks.size() >= 2);
    CHECK(ticks.size() <= 6);
  }
}

TEST_CASE("axis: logarithmic ticks are powers of ten, with 2 and 5 where those are few") {
  CHECK(log_ticks(0.02, 300) == std::vector<double>{0.01, 0.1, 1, 10, 100, 1000});
  const std::vector<double> few = log_ticks(1.5, 30);
  CHECK(few == std::vector<double>{1, 2, 5, 10, 20, 50});
  CHECK(log_ticks(10, 20) == std::vector<double>{10, 20});
  const std::vector<double> near = log_ticks(100, 104);
  CHECK(near.front() <= 100);
  CHECK(near.back() >= 104);
  CHECK(near.size() >= 3);
  const std::vector<double> one = log_ticks(7, 7);
  CHECK(one.front() <= 7);
  CHECK(one.back() >= 7);
}

TEST_CASE("axis: a scale maps both ends, and the middle of a logarithmic one to the geometric mean") {
  const Scale linear(0, 10, false, 100, 200), log(1, 100, true, 300, 0);
  CHECK(linear(0) == 100);
  CHECK(linear(10) == 200);
  CHECK(linear(5) == 150);
  CHECK(log(1) == 300);
  CHECK(log(100) == doctest::Approx(0).epsilon(1e-9));
  CHECK(log(10) == doctest::Approx(150));
  CHECK(linear.shows(-1));
  CHECK(!log.shows(0));
  CHECK(!linear.shows(none));
}

TEST_CASE("line chart: every series is drawn and named; labels are escaped") {
  const std::string html =
      line_chart(chart_of({line("a <b> & \"c\"", {3, 2, 1}), line("second", {1, 2, 3})}));
  CHECK(count(html, "<polyline") == 2);
  CHECK(count(html, "<title>") == 6);
  CHECK(contains(html, "a &lt;b&gt; &amp; &quot;c&quot;"));
  CHECK(!contains(html, "a <b>"));
  CHECK(contains(html, "second"));
  CHECK(contains(html, "rows n  (logarithmic)"));
  CHECK(contains(html, "time, ms  (logarithmic)"));
  CHECK(contains(html, ">4</text>"));  // the last x as a tick
}

TEST_CASE("line chart: points that are no numbers are left out, and the line has a gap") {
  Series gap = line("gap", {1, 2, none, 4, 5});
  std::string html = line_chart(chart_of({gap}));
  CHECK(count(html, "<polyline") == 2);
  CHECK(count(html, "<title>") == 4);
  CHECK(!contains(html, "nan"));
  gap.points[1].y = 0;  // a logarithmic axis has no place for it
  html = line_chart(chart_of({gap}));
  CHECK(count(html, "<polyline") == 1);
  CHECK(count(html, "<title>") == 3);
  CHECK(!contains(html, "inf"));
  CHECK(count(line_chart(chart_of({gap}, false)), "<title>") == 4);
}

TEST_CASE("line chart: a series without points is listed with the reason") {
  Series refused = line("refused", {none, none});
  refused.note = "it has no selector bubble";
  std::string html = line_chart(chart_of({line("drawn", {1, 2}), refused}));
  CHECK(contains(html, "no points"));
  CHECK(contains(html, "it has no selector bubble"));
  html = line_chart(chart_of({refused}));
  CHECK(contains(html, "Nothing could be measured here."));
  CHECK(!contains(html, "<polyline"));
}

TEST_CASE("line chart: what one device refuses is one entry, each refusal once") {
  const auto refused = [](const std::string& label, const std::string& device, const std::string& note) {
    Series series = line(label, {none});
    series.device = device;
    series.note = note;
    return series;
  };
  const Chart chart =
      chart_of({line("drawn", {1}), refused("a", "cpu", "first reason"), refused("b", "cpu", "first reason"),
                refused("c", "gpu", "first reason"), refused("d", "cpu", "second reason"),
                refused("e", "", "not built in"), refused("f", "", "not built in")});
  const std::string html = line_chart(chart), svg = chart_picture(result_of(chart), chart);
  CHECK(count(html, "no points") == 4);  // cpu, gpu, and what is no device's
  CHECK(contains(html, "<span>a; b; d<small>first reason; second reason</small></span>"));
  CHECK(contains(html, "<span>c<small>first reason</small></span>"));
  CHECK(contains(html, "<span>e<small>not built in</small></span>"));
  CHECK(contains(html, "<span>f<small>not built in</small></span>"));
  CHECK(count(svg, ": no points") == 4);
  CHECK(contains(svg, ">a; b; d: no points</text>"));
}

TEST_CASE("line chart: numbers at the ends of lines do not overlap, and stay inside") {
  std::vector<Series> many;
  for (int i = 0; i < 14; ++i) many.push_back(line("series " + std::to_string(i), {1, 1 + 0.001 * i}));
  for (const bool log : {false, true}) {
    const std::vector<double> heights = label_heights(line_chart(chart_of(many, log)));
    REQUIRE(heights.size() == many.size());
    for (std::size_t i = 1; i < heights.size(); ++i) CHECK(heights[i] - heights[i - 1] >= 14.9);
    CHECK(heights.front() > 0);
    CHECK(heights.back() < 370);
  }
}

TEST_CASE("line chart: a linear axis on which curves would lie becomes logarithmic") {
  const auto is_log = [](const Chart& chart) {
    return contains(line_chart(chart), "time, ms  (logarithmic)");
  };
  CHECK(is_log(chart_of({line("high", {60, 50}), line("low", {3, 4})}, false)));
  CHECK(is_log(chart_of({line("falls", {900, 50, 2})}, false)));
  CHECK(!is_log(chart_of({line("high", {60, 50}), line("low", {30, 7})}, false)));
  CHECK(!is_log(chart_of({line("high", {60, 50}), line("zero", {0, 1})}, false)));
  Chart close = chart_of({line("high", {60, 50}), line("low", {3, 4})}, false);
  close.y.from_zero = false;
  CHECK(!is_log(close));
}

TEST_CASE("line chart: marks have names that can be reached, and axes are not read") {
  const std::string html = line_chart(chart_of({line("first", {1, 2}), line("second", {2, 3})}));
  CHECK(contains(html, "role=\"group\" aria-label=\"Time\"><g aria-hidden=\"true\">"));
  CHECK(!contains(html, "<svg viewBox=\"0 0 580 370\" width=\"580\" height=\"370\" role=\"img\""));
  CHECK(count(html, "role=\"img\"><title>") == 4);
}

TEST_CASE("line chart: markers and dashes differ between neighbours, also without colours") {
  std::vector<Series> many;
  for (int i = 0; i < 8; ++i) many.push_back(line("series " + std::to_string(i), {1, 2}));
  const std::string html = line_chart(chart_of(many));
  for (int i = 0; i < 8; ++i) CHECK(count(html, "class=\"series s" + std::to_string(i) + "\"") == 2);
  CHECK(contains(html, "stroke-dasharray=\"7 4\""));
  CHECK(contains(html, "stroke-dasharray=\"2 4\""));
}

namespace {

/// Whether every element that begins ends, in order, and < and & stand for nothing else.
bool well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = 0; (at = xml.find_first_of("<&", at)) != std::string::npos;) {
    const std::size_t end = xml.find(xml[at] == '<' ? '>' : ';', at);
    if (end == std::string::npos) return false;
    const std::string inside = xml.substr(at + 1, end - at - 1);
    if (inside.find_first_of("<&") != std::string::npos || count(inside, "\"") % 2 != 0) return false;
    if (xml[at] == '<' && inside.starts_with('/')) {
      if (open.empty() || open.back() != inside.substr(1)) return false;
      open.pop_back();
    } else if (xml[at] == '<' && !inside.ends_with('/')) {
      open.push_back(inside.substr(0, inside.find_first_of(" \n")));
    }
    at = end;
  }
  return open.empty();
}

/// The number behind the first `name` at or after `from`.
double number_after(const std::string& text, const std::string& name, std::size_t from = 0) {
  const std::size_t at = text.find(name, from);
  REQUIRE(at != std::string::npos);
  return std::atof(text.c_str() + at + name.size());
}

}  // namespace

TEST_CASE("chart picture: stands alone, in its own colours") {
  Chart chart = chart_of({line("a <b> & \"c\"", {3, 2, 1}), line("second", {1, 2, 3}), line("none", {none})});
  chart.series[1].note = "one thread";
  chart.series[2].note = "it has no selector bubble";
  Result result = result_of(chart);
  std::string svg = chart_picture(result, chart);
  CHECK(well_formed(svg));
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox="));
  for (const char* said :
       {">Time</text>", "<title>Time</title>", "a-name", "a &lt;b&gt; &amp; &quot;c&quot;</text>",
        ">second</text>", ">one thread</text>", "none: no points", "it has no selector bubble",
        "cpu: a processor", "class=\"paper\"", ".s0 { color: #0072b2; }", "fill: #1c1f24;"})
    CHECK_MESSAGE(contains(svg, said), said);
  for (const char* foreign :
       {"https:", "<script", "href", "@import", "url(", "src=", "var(", "prefers", "<div"})
    CHECK_MESSAGE(!contains(svg, foreign), foreign);
  CHECK(count(svg, "http:") == 1);  // the name of SVG
  CHECK(count(svg, "<polyline") == 2);
  CHECK(count(svg, "class=\"series s0\"") == 2);  // drawn, and in the legend
  CHECK(!contains(svg, "quick"));
  result.quick = true;
  CHECK(contains(chart_picture(result, chart), "quick sizes, not those of the paper"));
}

TEST_CASE("chart picture: texts are cut into lines that do not overlap, and nothing leaves the paper") {
  const std::string long_text =
      "a refusal in so many words that no line of a picture has the room for all of it";
  Chart chart = chart_of({});
  for (int i = 0; i < 14; ++i) {
    chart.series.push_back(line("series " + std::to_string(i) + ": " + long_text, {1, 1 + 0.001 * i}));
    chart.series.back().note = long_text + ", " + long_text;
  }
  chart.title = std::string(200, 'W') + " " + long_text;
  Result result = result_of(chart);
  result.devices = {"cpu: " + long_text + " " + long_text, "other: " + std::string(300, 'x')};
  const std::string svg = chart_picture(result, chart);
  CHECK(well_formed(svg));
  const double width = number_after(svg, " width=\""), height = number_after(svg, " height=\"");
  const std::size_t plot = svg.find("<g transform"), below = svg.find("</g>", plot);
  const double plot_top = number_after(svg, "translate(20.0 ", plot);
  double last = 0;
  std::size_t lines = 0;
  std::string drawn;  // all texts, without spaces
  for (std::size_t at = 0; (at = svg.find("\n<text x=", at)) != std::string::npos; ++at, ++lines) {
    const double x = number_after(svg, "x=\"", at), y = number_after(svg, "y=\"", at),
                 size = number_after(svg, "font-size=\"", at);
    CHECK((y - last >= size || (y == last && x == 100)));  // a number and its label share a line
    last = y;
    CHECK(y < height);
    if (at < plot) CHECK(y < plot_top);
    if (at > below) CHECK(y - size >= plot_top + 370);
    const std::size_t from = svg.find('>', at) + 1, letters = svg.find('<', from) - from;
    CHECK(x + 0.45 * size * static_cast<double>(letters) < width);
    for (std::size_t i = from; i < from + letters; ++i)
      if (svg[i] != ' ') drawn += svg[i];
  }
  CHECK(lines > 5 + 14 * 5);
  std::string word = long_text;
  std::erase(word, ' ');
  CHECK(contains(drawn, std::string(200, 'W') + word));
  CHECK(count(drawn, word + "," + word) == 14);
  CHECK(contains(drawn, "other:" + std::string(300, 'x')));
}

TEST_CASE("chart picture: what is no character becomes a sign that stands for one") {
  Chart chart = chart_of({line("", {1, 2})});
  for (const char* bytes : {"\xED\xA0\x80", "\xE0\x80\x80", "\xF4\x90\x80\x80", "\xEF\xBF\xBF", "\xFF"}) {
    chart.series[0].label = std::string("bad ") + bytes + " good";
    const std::string svg = chart_picture(result_of(chart), chart);
    CHECK(!contains(svg, bytes));
    CHECK(contains(svg, "bad \xEF\xBF\xBD"));
  }
  chart.series[0].label = "µ – \xF0\x9F\x98\x80";
  CHECK(contains(chart_picture(result_of(chart), chart), ">µ – \xF0\x9F\x98\x80</text>"));
}

TEST_CASE("experiment page: says everything, and needs nothing from elsewhere") {
  Chart chart = chart_of({line("bubble (cpu)", {3, 2, 1}), line("threshold (cpu)", {1, none, 1})});
  chart.series[0].points[0].joules = 0.25;
  const std::string page = experiment_page({result_of(chart)}, "kith reproduce 'a'");
  for (const char* said : {"a title", "somebody, 2016", "a card", "a processor", "why &amp; what", "m = 32",
                           "something was refused", "16x", "1.3x (cpu)", "another card", "bubble (cpu)",
                           "threshold (cpu)", "row 3 differs", "1 of 2 passed", "no joules: no counter",
                           "joules a run", "0.25", "12.5", "kith reproduce &#39;a&#39;"})
    CHECK_MESSAGE(contains(page, said), said);
  for (const char* foreign : {"http:", "https:", "<script", "<link", "@import", "url(", "src="})
    CHECK_MESSAGE(!contains(page, foreign), foreign);
  CHECK(contains(page, "prefers-color-scheme: dark"));
  CHECK(count(page, "<h1") == 1);
  CHECK(!contains(page, ">nan"));
  CHECK(!contains(page, "Sizes"));
}

TEST_CASE("experiment page: several experiments on one page, with links between them") {
  Result first = result_of(chart_of({line("one", {1, 2})})), second = first;
  second.name = "other-name";
  second.quick = true;
  const std::string page = experiment_page({first, second}, "");
  CHECK(contains(page, "href=\"#a-name\""));
  CHECK(contains(page, "id=\"a-name\""));
  CHECK(contains(page, "href=\"#other-name\""));
  CHECK(contains(page, "id=\"other-name\""));
  CHECK(count(page, "<h1") == 1);
  CHECK(contains(page, "for a small machine; not those of the paper"));
}

TEST_CASE("experiment page: what could not be measured is said once") {
  Series refused = line("bubble (cpu)", {none});
  refused.device = "cpu";
  refused.note = "selector bubble is not made for a CPU";
  Series missing = line("kd-tree", {none});
  missing.note = "not built in";
  Result first = result_of(chart_of({line("threshold (cpu)", {1, 2}), refused, missing}));
  first.charts.push_back(first.charts[0]);
  first.notes = {"bubble (cpu): " + refused.note, "something else"};
  first.claims[0].why = refused.note;
  Result second = first;
  second.name = "other-name";
  const std::string page = experiment_page({first, second}, "");
  CHECK(count(page, refused.note) == 1);
  CHECK(count(page, missing.note) == 1);
  CHECK(count(page, "a-name: bubble (cpu)") == 1);
  CHECK(count(page, "other-name: kd-tree") == 1);
  CHECK(count(page, "id=\"not-measured\"") == 1);
  CHECK(count(page, "<a href=\"#not-measured\">") == 2 * (2 * 2 + 1));
  CHECK(count(page, "something else") == 2);
  CHECK(!contains(experiment_page({result_of(chart_of({line("one", {1})}))}, ""), "not-measured\""));
}
