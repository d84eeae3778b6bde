// The axes of a line chart: from values to places, with ticks.
#pragma once

#include <string>
#include <vector>

namespace kith::report {

/// Numbers for the eye: four digits, thousands grouped, no trailing zeros: `1,024`, `0.05`, `3.142`.
/// A dash for what is no number. Whole numbers have all their digits up to 1e15.
std::string number_text(double value, int digits = 4);

/// The same, and `∞` for infinity.
std::string value_text(double value, int digits = 4);

/// Round values from `low` to `high`, at most `most`, by steps of 1, 2 or 5 times a power of ten. The first
/// is at most low, the last at least high.
std::vector<double> linear_ticks(double low, double high, std::size_t most = 6);

/// The same for a logarithmic axis: powers of ten, with 2 and 5 between them where they are few, and
/// linear ones where even those are. 0 < low <= high.
std::vector<double> log_ticks(double low, double high);

/// Maps values to places between two ends, in units of the picture.
class Scale {
 public:
  Scale(double low, double high, bool log, double from, double to);
  double operator()(double value) const;
  /// Whether the axis has a place for it: a finite number, above 0 where it is logarithmic.
  bool shows(double value) const;

 private:
  double low_, high_, from_, to_;
  bool log_;
};

}  // namespace kith::report
