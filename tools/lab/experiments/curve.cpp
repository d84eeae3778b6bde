// Makes series of measurements, and numbers as text.
#include <algorithm>
#include <cmath>

#include "files/printed.hpp"
#include "lab/experiments/measure.hpp"

namespace kith::experiments {

using files::printed;

Curve::Curve(const std::string& what, const Device& device) : Curve(what + " (" + device.info().spec + ")") {
  series_.device = device.info().spec;
}

Curve::Curve(const std::string& label) {
  series_.label = label;
  check_.passed = true;
}

void Curve::add(double x, const Measured& measured, double y) {
  const bool moved = y > 0;  // a clock may be too coarse
  Point point{x, measured.timed() && moved ? y : not_measured, {}};
  if (measured.timed() && y == 0) remark("the clock of the device did not move");
  if (measured.timed()) point.joules = measured.joules;
  series_.points.push_back(point);
  if (!measured.refusal.empty()) return remark(measured.refusal);
  ++compared_;
  if (measured.difference.empty()) return;
  remark("not timed where the check failed");
  check_.passed = false;
  if (check_.detail.empty())
    check_.detail = "x = " + std::to_string(std::llround(x)) + ": " + measured.difference;
}

void Curve::remark(const std::string& sentence) {
  if (series_.note.find(sentence) != std::string::npos) return;
  series_.note += (series_.note.empty() ? "" : "; ") + sentence;
}

double Curve::at(double x) const {
  for (const Point& point : series_.points)
    if (point.x == x) return point.y;
  return not_measured;
}

void Curve::finish(Chart& chart, Result& result) && {
  const std::string note = series_.label + ": " + series_.note;
  if (!series_.note.empty() &&
      std::find(result.notes.begin(), result.notes.end(), note) == result.notes.end())
    result.notes.push_back(note);
  check_.what = series_.label + ", " + chart.title + ": the bits of the CPU";
  if (compared_ > 0) result.checks.push_back(std::move(check_));
  chart.series.push_back(std::move(series_));
}

double crossover(const Series& first, const Series& second) {
  for (std::size_t i = 1; i < first.points.size(); ++i) {
    const double before = std::log(first.points[i - 1].y / second.points[i - 1].y);
    const double after = std::log(first.points[i].y / second.points[i].y);
    if (!(before <= 0 && after > 0)) continue;
    const double from = std::log(first.points[i - 1].x), to = std::log(first.points[i].x);
    return std::exp(from + (to - from) * before / (before - after));
  }
  return not_measured;
}

void drop_empty_claims(Result& result) {
  const auto empty = [](const Claim& claim) { return claim.here.starts_with(not_available); };
  std::vector<Claim> kept;
  for (std::size_t i = 0; i < result.claims.size(); ++i) {
    const auto better = [&](const Claim& other) {  // one that has a figure, or a later one that is also empty
      return other.what == result.claims[i].what && (!empty(other) || &other > &result.claims[i]);
    };
    if (!empty(result.claims[i]) || std::none_of(result.claims.begin(), result.claims.end(), better))
      kept.push_back(result.claims[i]);
  }
  result.claims = std::move(kept);
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return not_available;
  return printed(value >= 1e4 ? "%.0f" : "%.4g", value);
}

std::string ratio_text(double ratio) {
  if (!std::isfinite(ratio)) return not_available;
  return printed(ratio >= 10 ? "%.0fx" : ratio >= 1 ? "%.1fx" : "%.2fx", ratio);
}

std::string time_text(double seconds) {
  if (!std::isfinite(seconds)) return not_available;
  if (seconds >= 1) return printed("%.2f s", seconds);
  return seconds >= 1e-3 ? printed("%.3g ms", seconds * 1e3) : printed("%.3g us", seconds * 1e6);
}

}  // namespace kith::experiments
