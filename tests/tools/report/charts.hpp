// Charts and results that tests of reports draw.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "common/text.hpp"
#include "lab/reproduce/experiment_page.hpp"

namespace kith::tests::charts {

using namespace kith::report;
using experiments::Result;
using test_support::contains;
using test_support::count;

inline constexpr double none = std::numeric_limits<double>::quiet_NaN();

inline Series line(const std::string& label, const std::vector<double>& heights) {
  Series series;
  series.label = label;
  for (std::size_t i = 0; i < heights.size(); ++i)
    series.points.push_back({std::pow(2.0, static_cast<double>(i)), heights[i], {}});
  return series;
}

inline Chart chart_of(const std::vector<Series>& series, bool log = true) {
  return {"Time", {"rows n", log}, {"time, ms", log}, series};
}

inline Result result_of(const Chart& chart) {
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

}  // namespace kith::tests::charts
