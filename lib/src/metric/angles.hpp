// Sines, cosines and arcs of sines, correctly rounded, so that the bits are the same on every machine: those
// of the system's libraries differ (docs/contract.md, section 1). All must run under FloatGuard.
#pragma once

namespace kith {

/// The largest magnitude of an angle, in radians.
inline constexpr double most_angle = 0x1p16;

/// Return the doubles nearest to sin(x) and cos(x).
///   x  at most most_angle in magnitude
double rounded_sin(double x);
double rounded_cos(double x);

/// Returns the double nearest to asin(x).
///   x  0 ... 1
double rounded_asin(double x);

}  // namespace kith
