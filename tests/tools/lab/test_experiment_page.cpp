// Tests the page of the experiments, and its charts as separate files.
#include "common/test.hpp"
#include "lab/reproduce/experiment_page.hpp"
#include "tools/report/charts.hpp"

using namespace kith::tests::charts;

namespace {

using kith::experiments::Result;

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

/// Returns whether elements are nested and closed in order, and < and & occur nowhere else.
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

/// Returns the number after the first `name` at or behind `from`.
double number_after(const std::string& text, const std::string& name, std::size_t from = 0) {
  const std::size_t at = text.find(name, from);
  REQUIRE(at != std::string::npos);
  return std::atof(text.c_str() + at + name.size());
}

}  // namespace

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
  CHECK(count(html, "no points") == 4);  // lines of cpu, of gpu, and of no device
  CHECK(contains(html, "<span>a; b; d<small>first reason; second reason</small></span>"));
  CHECK(contains(html, "<span>c<small>first reason</small></span>"));
  CHECK(contains(html, "<span>e<small>not built in</small></span>"));
  CHECK(contains(html, "<span>f<small>not built in</small></span>"));
  CHECK(count(svg, ": no points") == 4);
  CHECK(contains(svg, ">a; b; d: no points</text>"));
}

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
  CHECK(count(svg, "http:") == 1);  // the namespace of SVG
  CHECK(count(svg, "<polyline") == 2);
  CHECK(count(svg, "class=\"series s0\"") == 2);  // in the chart and in the legend
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
  const std::string page = experiment_page({result_of(chart)}, "kith-lab reproduce 'a'");
  for (const char* said : {"a title", "somebody, 2016", "a card", "a processor", "why &amp; what", "m = 32",
                           "something was refused", "16x", "1.3x (cpu)", "another card", "bubble (cpu)",
                           "threshold (cpu)", "row 3 differs", "1 of 2 passed", "no joules: no counter",
                           "joules a run", "0.25", "12.5", "kith-lab reproduce &#39;a&#39;"})
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
