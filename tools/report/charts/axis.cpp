#include "report/charts/axis.hpp"

#include <algorithm>
#include <cmath>

#include "files/printed.hpp"
#include "report/text.hpp"

namespace kith::report {
namespace {

/// Returns a step of 1, 2 or 5 times a power of ten that divides `range` into fewer than `most` parts.
double round_step(double range, std::size_t most) {
  const double least = range / static_cast<double>(std::max<std::size_t>(2, most) - 1);
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

/// Writes `after` digits after the point, without trailing zeros.
std::string grouped_fraction(double value, int after) {
  std::string digits = files::printed("%.*f", after, value);
  if (after > 0) digits.resize(digits.find_last_not_of('0') + 1);
  if (digits.ends_with('.')) digits.pop_back();
  const std::size_t point = std::min(digits.find('.'), digits.size());
  return grouped(std::stoll(digits.substr(0, point))) + digits.substr(point);
}

}  // namespace

std::string number_text(double value, int digits) {
  if (!std::isfinite(value)) return "–";
  if (std::fabs(value) >= 999.95 && std::fabs(value) < 1e15) {
    const double whole = std::floor(std::log10(std::fabs(value))) + 1;  // digits before the point
    const int after = std::max(0, digits - static_cast<int>(whole));
    return grouped_fraction(value, after);
  }
  return files::printed("%.*g", digits, value);
}

std::string value_text(double value, int digits) {
  return std::isinf(value) ? "∞" : number_text(value, digits);
}

std::vector<double> linear_ticks(double low, double high, std::size_t most) {
  if (!(high > low)) high = low + (low == 0 ? 1 : std::fabs(low) / 2);
  for (double step = round_step(high - low, most);; step = round_step(step * 1.01, 2)) {
    const double first = std::floor(low / step + 1e-9), last = std::ceil(high / step - 1e-9);
    if (last - first + 1 > static_cast<double>(most)) continue;
    std::vector<double> ticks;
    for (double i = first; i <= last; ++i) ticks.push_back(i * step);
    return ticks;
  }
}

std::vector<double> log_ticks(double low, double high) {
  const double decades = std::log10(high / low);
  if (decades < 0.3) {
    std::vector<double> ticks = linear_ticks(low, high);
    if (ticks.front() > 0) return ticks;
  }
  const auto first = static_cast<int>(std::floor(std::log10(low) + 1e-9)),
             last = static_cast<int>(std::ceil(std::log10(high) - 1e-9));
  std::vector<double> ticks;
  for (int power = first; power <= last; ++power)
    for (double factor : {1.0, 2.0, 5.0})
      if (factor == 1 || (decades < 2.5 && power < last)) ticks.push_back(factor * std::pow(10, power));
  // Keeps at most one tick outside of each end.
  while (ticks.size() > 1 && ticks[1] <= low * (1 + 1e-9)) ticks.erase(ticks.begin());
  while (ticks.size() > 1 && ticks[ticks.size() - 2] >= high * (1 - 1e-9)) ticks.pop_back();
  return ticks;
}

Scale::Scale(double low, double high, bool log, double from, double to)
    : low_(log ? std::log(low) : low), high_(log ? std::log(high) : high), from_(from), to_(to), log_(log) {}

double Scale::operator()(double value) const {
  const double at = log_ ? std::log(value) : value;
  if (high_ == low_) return (from_ + to_) / 2;
  return from_ + (at - low_) / (high_ - low_) * (to_ - from_);
}

bool Scale::shows(double value) const {
  return std::isfinite(value) && (!log_ || value > 0);
}

}  // namespace kith::report
