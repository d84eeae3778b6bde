// Makes the axes of a line chart, which map values to coordinates and choose ticks.
#pragma once

#include <string>
#include <vector>

namespace kith::report {

/// Writes a number for readers: four digits, thousands grouped, no trailing zeros: `1,024`, `0.05`, `3.142`;
/// a dash for NaN and infinity. Whole numbers keep all their digits up to 1e15.
std::string number_text(double value, int digits = 4);

/// Writes a number as number_text() does, but `∞` for infinity.
std::string value_text(double value, int digits = 4);

/// Returns at most `most` round values, in steps of 1, 2 or 5 times a power of ten. The first is at most low,
/// the last at least high.
std::vector<double> linear_ticks(double low, double high, std::size_t most = 6);

/// Returns ticks of a logarithmic axis: powers of ten, with 2 and 5 between them if they are few, and linear
/// ticks if even these are few. Requires 0 < low <= high.
std::vector<double> log_ticks(double low, double high);

/// Maps values to coordinates between two ends, in units of the picture.
class Scale {
 public:
  Scale(double low, double high, bool log, double from, double to);
  double operator()(double value) const;
  /// Returns whether the axis can show the value: a finite number, above 0 on a logarithmic axis.
  bool shows(double value) const;

 private:
  double low_, high_, from_, to_;
  bool log_;
};

}  // namespace kith::report
