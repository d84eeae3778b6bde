#include "rows/landed/places.hpp"

#include <cmath>

#include "base/text.hpp"
#include "metric/angles.hpp"

namespace kith {
namespace {

constexpr double quarter_turn = 0x1.921fb54442d18p0;       // the double nearest to pi / 2
constexpr double radians_a_degree = 0x1.1df46a2529d39p-6;  // the double nearest to pi / 180

/// A latitude in degrees is compared with 90, since the radians of a larger one may be rounded to a quarter.
bool is_latitude(double value, bool degrees) {
  return std::fabs(value) <= (degrees ? 90 : quarter_turn);
}

}  // namespace

double radians_of(double degrees) {
  return degrees * radians_a_degree;
}

Doubles with_third_column(const Doubles& rows) {
  Doubles wide(rows.size() / 2 * 3);
  for (std::size_t i = 0; i < rows.size(); ++i) wide[i / 2 * 3 + i % 2] = rows[i];
  return wide;
}

bool to_sphere(std::span<double> row, bool degrees) {
  const double latitude = degrees ? radians_of(row[0]) : row[0],
               longitude = degrees ? radians_of(row[1]) : row[1];
  if (!is_latitude(row[0], degrees) || !(std::fabs(longitude) <= most_angle)) return false;
  const double cosine = rounded_cos(latitude);
  row[0] = cosine * rounded_cos(longitude);
  row[1] = cosine * rounded_sin(longitude);
  row[2] = rounded_sin(latitude);
  return true;
}

std::string why_no_place(std::string_view what, std::int64_t number, std::span<const double> row,
                         bool degrees) {
  const bool by_latitude = !is_latitude(row[0], degrees);
  const std::string longest = text_of(degrees ? most_angle / radians_a_degree : most_angle);
  return place_text(what, number, by_latitude ? 0 : 1) + " holds the " +
         (by_latitude
              ? "latitude " + text_of(row[0]) + ", beyond " + (degrees ? "90" : "pi / 2, which is 90 degrees")
              : "longitude " + text_of(row[1]) + ", beyond " + longest) +
         "; give " + (degrees ? "degrees" : "radians") + ", the latitude first";
}

}  // namespace kith
