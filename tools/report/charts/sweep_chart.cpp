#include <algorithm>
#include <cmath>

#include "report/parts.hpp"
#include "report/text.hpp"

namespace kith::report {
namespace {

constexpr double width = 620, height = 320, left = 62, right = 20, top = 28, bottom = 48;
constexpr std::size_t listed_points = 12;  ///< more than these, and their table is folded away
constexpr std::size_t marked_points = 40;  ///< more than these, and dots would hide the line
constexpr std::size_t few_points = 8;      ///< each has its number beside it

/// A step of 1, 2 or 5 times a power of ten that cuts `range` into at most five parts.
double tick_step(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / 5)));
  for (double factor : {1.0, 2.0, 5.0})
    if (range / (factor * power) <= 5) return factor * power;
  return 10 * power;
}

struct Axes {
  double low, high, step;  ///< accuracy
  std::vector<double> x;   ///< [points]
  double y(double accuracy) const {
    return height - bottom - (accuracy - low) / (high - low) * (height - top - bottom);
  }
};

/// Places along k: true to scale where the labels have room, else evenly spaced.
std::vector<double> places(const std::vector<SweepPoint>& sweep) {
  const double room = width - left - right - 40;
  const auto span = static_cast<double>(std::max<std::int64_t>(1, sweep.back().k - sweep.front().k));
  const double even = sweep.size() > 1 ? room / static_cast<double>(sweep.size() - 1) : 0;
  std::vector<double> x;
  bool roomy = true;
  for (std::size_t i = 0; i < sweep.size(); ++i) {
    x.push_back(left + 20 + static_cast<double>(sweep[i].k - sweep[0].k) / span * room);
    if (i > 0 && x[i] - x[i - 1] < std::min(sweep.size() <= few_points ? 60.0 : 26.0, even)) roomy = false;
  }
  if (!roomy)
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = left + 20 + static_cast<double>(i) * even;
  if (sweep.size() == 1) x[0] = left + 20 + room / 2;
  return x;
}

/// Whether the curve goes up on both sides of a point, so that its number must stand below it.
bool in_valley(const std::vector<double>& accuracy, std::size_t i) {
  const bool up_before = i == 0 || accuracy[i - 1] > accuracy[i];
  const bool up_after = i + 1 == accuracy.size() || accuracy[i + 1] > accuracy[i];
  return up_before && up_after && !(i > 0 && i + 1 == accuracy.size());
}

std::string line(double x1, double y1, double x2, double y2, const char* kind) {
  return "<line x1=\"" + decimal(x1, 1) + "\" y1=\"" + decimal(y1, 1) + "\" x2=\"" + decimal(x2, 1) +
         "\" y2=\"" + decimal(y2, 1) + "\" class=\"" + kind + "\"/>";
}

std::string label(double x, double y, const char* anchor, const char* kind, const std::string& content) {
  return "<text x=\"" + decimal(x, 1) + "\" y=\"" + decimal(y, 1) + "\" text-anchor=\"" + anchor +
         "\" font-size=\"13\" class=\"" + kind + "\">" + content + "</text>";
}

std::string drawing(const std::vector<SweepPoint>& sweep, std::int64_t total, std::int64_t k) {
  std::vector<double> accuracy;
  for (const SweepPoint& point : sweep)
    accuracy.push_back(static_cast<double>(point.correct) / static_cast<double>(total));
  const auto least = std::min_element(accuracy.begin(), accuracy.end());
  const auto most = std::max_element(accuracy.begin(), accuracy.end());
  const double margin = std::max(0.15 * (*most - *least), 0.002);
  Axes axes{std::max(0.0, *least - margin), std::min(1.0, *most + margin), 0, places(sweep)};
  axes.step = tick_step(axes.high - axes.low);
  axes.low = std::floor(axes.low / axes.step) * axes.step;
  axes.high = std::min(1.0, std::ceil(axes.high / axes.step) * axes.step);
  const int decimals = axes.step < 0.0099 ? (axes.step < 0.00099 ? 2 : 1) : 0;

  std::string svg = "<svg viewBox=\"0 0 " + decimal(width, 0) + " " + decimal(height, 0) + "\" width=\"" +
                    decimal(width, 0) + "\" height=\"" + decimal(height, 0) +
                    "\" role=\"group\" aria-label=\"Accuracy over k\"><g aria-hidden=\"true\">";
  for (int tick = 0; axes.low + tick * axes.step <= axes.high + axes.step / 2; ++tick) {
    const double value = axes.low + tick * axes.step, y = axes.y(value);
    svg += line(left, y, width - right, y, "grid") +
           label(left - 8, y + 4.5, "end", "quiet", percent(value, decimals));
  }
  const auto first_best = static_cast<std::size_t>(most - accuracy.begin());
  std::string curve, dots, values;
  double last_label = -100;
  for (std::size_t i = 0; i < sweep.size(); ++i) {
    const double x = axes.x[i], y = axes.y(accuracy[i]);
    curve += (i ? " " : "") + decimal(x, 1) + "," + decimal(y, 1);
    const bool best = accuracy[i] == *most, used = sweep[i].k == k;
    if (used) svg += line(x, top, x, height - bottom, "used");
    if (used || best || sweep.size() <= marked_points)
      dots += "<circle cx=\"" + decimal(x, 1) + "\" cy=\"" + decimal(y, 1) +
              "\" r=\"5\" role=\"img\" class=\"dot" + (best ? " best" : "") +
              "\"><title>k = " + grouped(sweep[i].k) + ": " + percent(accuracy[i], 2) + " (" +
              grouped(sweep[i].correct) + " correct)</title></circle>";
    const std::string name = grouped(sweep[i].k);
    if (x - last_label >= 10 + 8 * static_cast<double>(name.size())) {
      svg += label(x, height - bottom + 20, "middle", used ? "used-label" : "quiet", name);
      last_label = x;
    }
    if (i == first_best || (used && std::abs(x - axes.x[first_best]) >= 64) || sweep.size() <= few_points)
      values += label(x, y + (in_valley(accuracy, i) ? 23 : -11), "middle", "value", percent(accuracy[i], 2));
  }
  return svg + "<polyline points=\"" + curve + "\" class=\"curve\"/>" + values +
         label(left + (width - left - right) / 2, height - 6, "middle", "quiet",
               "k, the number of neighbours that vote") +
         "</g>" + dots + "</svg>";
}

std::string numbers(const std::vector<SweepPoint>& sweep, std::int64_t total) {
  std::string rows;
  for (const SweepPoint& point : sweep)
    rows += "<tr><th scope=\"row\" class=\"n\">" + grouped(point.k) + "</th>" +
            number_cell(grouped(point.correct)) +
            number_cell(percent(static_cast<double>(point.correct) / static_cast<double>(total), 2)) +
            "</tr>";
  return table("Accuracy for each k", {{"k", true}, {"right", true}, {"accuracy", true}}, rows);
}

}  // namespace

std::string sweep_chart(const std::vector<SweepPoint>& sweep, std::int64_t total, std::int64_t k) {
  const std::string chart = drawing(sweep, total, k), list = numbers(sweep, total);
  return "<div class=\"columns sweep\"><div class=\"wide\">" + chart + "</div><div class=\"narrow\">" +
         (sweep.size() > listed_points ? "<details><summary>The numbers</summary>" + list + "</details>"
                                       : list) +
         "</div></div>";
}

}  // namespace kith::report
