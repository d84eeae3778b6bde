// Makes charts for tests of reports.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "common/text.hpp"
#include "report/charts/chart.hpp"

namespace kith::tests::charts {

using namespace kith::report;
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

}  // namespace kith::tests::charts
