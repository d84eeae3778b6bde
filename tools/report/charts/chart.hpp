// Declares a line chart: its data, and its picture with a legend.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kith::report {

struct Point {
  double x = 0;
  double y = 0;                  ///< NaN: no value; the note of the series says why
  std::optional<double> joules;  ///< joules of a search, if the machine can measure them

  bool operator==(const Point&) const = default;
};

/// Describes a curve.
struct Series {
  std::string label;   ///< unique in its chart: method and device
  std::string device;  ///< spec; empty if it runs on no device of kith
  std::string note;    ///< a refusal, or what was different; empty: nothing
  std::vector<Point> points;

  bool operator==(const Series&) const = default;
};

struct Axis {
  std::string title;  ///< with its unit
  bool log = false;
  bool from_zero = true;  ///< a linear y axis begins at 0, so that heights can be compared

  bool operator==(const Axis&) const = default;
};

struct Chart {
  std::string title;
  Axis x, y;
  std::vector<Series> series;

  bool operator==(const Chart&) const = default;
};

/// Draws a chart with its legend beside it. Every series has a number at the end of its line, a colour that
/// colour-blind people can distinguish, and its own marker and dash. Points without a number, or not above 0
/// on a logarithmic axis, leave a gap in the line. A linear axis becomes logarithmic if a series would
/// coincide with it.
///   reasons  the id of the element that says why series have no points; empty: the legend says it
std::string line_chart(const Chart& chart, const std::string& reasons = {});

}  // namespace kith::report
