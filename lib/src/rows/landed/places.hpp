// Places of a sphere, latitude and longitude, as haversine takes them: they become points of the unit sphere.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "rows/doubles/prepared_doubles.hpp"

namespace kith {

/// Returns an angle in radians: it is multiplied by the double nearest to pi / 180, as by numpy.radians.
double radians_of(double degrees);

/// Returns rows with a third column behind two.
Doubles with_third_column(const Doubles& rows);

/// Replaces latitude and longitude, in radians or degrees, by a point. Returns false if they are no place.
bool to_sphere(std::span<double> row, bool degrees);

/// Returns why to_sphere() did not take a row.
std::string why_no_place(std::string_view what, std::int64_t number, std::span<const double> row,
                         bool degrees);

}  // namespace kith
