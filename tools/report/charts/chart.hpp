// A line chart: what it shows, and its picture with a legend.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kith::report {

struct Point {
  double x = 0;
  double y = 0;                  ///< NaN: not to be had; the note of the series says why
  std::optional<double> joules;  ///< a search, where the platform tells

  bool operator==(const Point&) const = default;
};

/// One curve.
struct Series {
  std::string label;   ///< unique in its chart: method and device
  std::string device;  ///< spec; empty for what runs on no device of kith
  std::string note;    ///< a refusal, or what was different about it; empty: nothing
  std::vector<Point> points;

  bool operator==(const Series&) const = default;
};

struct Axis {
  std::string title;  ///< with its unit
  bool log = false;
  bool from_zero = true;  ///< of y, linear: it begins at 0, so that heights can be compared

  bool operator==(const Axis&) const = default;
};

struct Chart {
  std::string title;
  Axis x, y;
  std::vector<Series> series;

  bool operator==(const Chart&) const = default;
};

/// A chart as a picture with its legend beside it: every series has a number at the end of its line, a
/// colour that colour-blind people tell apart, a marker and a dash of its own. Points that are no number, or
/// not above 0 on a logarithmic axis, are left out, and the line has a gap there. A linear axis becomes
/// logarithmic where a series would lie on it.
///   reasons  the id of what says elsewhere why series have no points; empty: the legend says it
std::string line_chart(const Chart& chart, const std::string& reasons = {});

}  // namespace kith::report
