// Tests line charts on the page of an experiment.
#include "common/test.hpp"
#include "tools/report/charts.hpp"

using namespace kith::tests::charts;

namespace {

/// Returns the vertical positions of all numbers at the ends of lines.
std::vector<double> label_heights(const std::string& svg) {
  std::vector<double> heights;
  const std::string end = "class=\"number\">";
  for (std::size_t at = 0; (at = svg.find(end, at)) != std::string::npos; at += end.size()) {
    const std::size_t y = svg.rfind(" y=\"", at);
    heights.push_back(std::atof(svg.c_str() + y + 4));
  }
  return heights;
}

}  // namespace

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
  CHECK(contains(html, ">4</text>"));  // the last x has a tick
}

TEST_CASE("line chart: points that are no numbers are left out, and the line has a gap") {
  Series gap = line("gap", {1, 2, none, 4, 5});
  std::string html = line_chart(chart_of({gap}));
  CHECK(count(html, "<polyline") == 2);
  CHECK(count(html, "<title>") == 4);
  CHECK(!contains(html, "nan"));
  gap.points[1].y = 0;  // a logarithmic axis cannot show it
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
