#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "report/charts/axis.hpp"
#include "report/charts/plot.hpp"
#include "report/text.hpp"

namespace kith::report {

const char* const plot_style = R"css(
svg .s0 { color: var(--s0); } svg .s1 { color: var(--s1); } svg .s2 { color: var(--s2); } svg .s3 { color: var(--s3); }
svg .s4 { color: var(--s4); } svg .s5 { color: var(--s5); } svg .s6 { color: var(--s6); } svg .s7 { color: var(--s7); }
svg .axis { stroke: var(--quiet); stroke-width: 1; }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .series { fill: none; stroke-width: 2.2; stroke-linejoin: round; }
svg .hollow { fill: var(--card); }
svg .leader { stroke: var(--line); stroke-width: 1; }
svg .number { font-weight: 600; }
)css";

namespace {

constexpr double width = Plot::width, height = Plot::height, left = 62, right = 36, top = 34, bottom = 56;
constexpr double digit = 7.4;  ///< width of a digit in labels of 13 px
constexpr std::size_t colours = 8;
constexpr std::array dashes = {"", "7 4", "2 4", "10 4 2 4"};

std::string at(const char* name, double value) {
  return std::string(" ") + name + "=\"" + decimal(value, 1) + "\"";
}

std::string line(double x1, double y1, double x2, double y2, const std::string& more) {
  return "<line" + at("x1", x1) + at("y1", y1) + at("x2", x2) + at("y2", y2) + " " + more + "/>";
}

std::string label(double x, double y, const char* anchor, const std::string& content) {
  return "<text" + at("x", x) + at("y", y) + " text-anchor=\"" + anchor +
         "\" font-size=\"13\" class=\"quiet\">" + escape(content) + "</text>";
}

/// Returns the CSS class that colours a series.
std::string colour(std::size_t series) {
  return "s" + std::to_string(series % colours);
}

std::string stroke(std::size_t series) {
  const std::string dash = dashes[(series + series / colours) % dashes.size()];
  return "class=\"series " + colour(series) + "\" stroke=\"currentColor\"" +
         (dash.empty() ? "" : " stroke-dasharray=\"" + dash + "\"");
}

/// Draws one of eight shapes, so that neighbouring series differ.
std::string marker(std::size_t series, double x, double y, const std::string& title) {
  struct Shape {
    const char* path;
    bool filled;
  };
  constexpr std::array<Shape, colours> shapes = {
      {{"M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0 -4.5 0Z", true},
       {"M-4 -4H4V4H-4Z", true},
       {"M0 -5.4L5 4H-5Z", true},
       {"M0 -5.6L5.6 0L0 5.6L-5.6 0Z", true},
       {"M-4.4 0A4.4 4.4 0 1 0 4.4 0A4.4 4.4 0 1 0 -4.4 0Z", false},
       {"M-4 -4H4V4H-4Z", false},
       {"M0 5.4L5 -4H-5Z", true},
       {"M0 -5.6L5.6 0L0 5.6L-5.6 0Z", false}}};
  const Shape& shape = shapes[series % colours];
  return "<path class=\"" + colour(series) + (shape.filled ? "" : " hollow") + "\" d=\"" + shape.path +
         "\" transform=\"translate(" + decimal(x, 1) + " " + decimal(y, 1) + ")\"" +
         (shape.filled ? " fill=\"currentColor\"" : "") + " stroke=\"currentColor\" stroke-width=\"" +
         (shape.filled ? "1" : "2") + "\"" +
         (title.empty() ? "/>" : " role=\"img\"><title>" + escape(title) + "</title></path>");
}

/// Holds the smallest and the largest value on an axis.
struct Range {
  double low = 0, high = 0;
  bool any = false;

  void take(double value) {
    low = any ? std::min(low, value) : value;
    high = any ? std::max(high, value) : value;
    any = true;
  }
};

bool shown(const Chart& chart, const Point& point) {
  const auto fits = [](double value, bool log) { return std::isfinite(value) && (!log || value > 0); };
  return fits(point.x, chart.x.log) && fits(point.y, chart.y.log);
}

/// Holds the scales of both axes, and the ticks of y.
struct Frame {
  Scale x, y;
  std::vector<double> y_ticks;
};

/// Makes y logarithmic if curves would lie on the axis of a linear y: all values are above 0 and span two
/// decades, or all values of some series are less than a tenth of the largest.
Chart readable(Chart chart) {
  if (chart.y.log || !chart.y.from_zero) return chart;
  Range all;
  double least_top = std::numeric_limits<double>::infinity();
  for (const Series& series : chart.series) {
    Range own;
    for (const Point& point : series.points) {
      if (!shown(chart, point)) continue;
      own.take(point.y);
      all.take(point.y);
    }
    if (own.any) least_top = std::min(least_top, own.high);
  }
  chart.y.log = all.any && all.low > 0 && (least_top < all.high / 10 || all.low <= all.high / 100);
  return chart;
}

Frame frame_of(const Chart& chart) {
  Range x, y;
  for (const Series& series : chart.series)
    for (const Point& point : series.points) {
      if (!shown(chart, point)) continue;
      x.take(point.x);
      y.take(point.y);
    }
  if (!y.any) y.low = y.high = x.low = x.high = 1;
  if (!chart.y.log && chart.y.from_zero) y.low = std::min(y.low, 0.0);
  std::vector<double> ticks = chart.y.log ? log_ticks(y.low, y.high) : linear_ticks(y.low, y.high);
  const double inner = 12;
  return {Scale(x.low, x.high, chart.x.log, left + inner, width - right - inner),
          Scale(ticks.front(), ticks.back(), chart.y.log, height - bottom, top), std::move(ticks)};
}

/// Labels the measured values of x, where labels fit.
std::string x_axis(const Chart& chart, const Frame& frame) {
  std::set<double> values;
  for (const Series& series : chart.series)
    for (const Point& point : series.points)
      if (shown(chart, point)) values.insert(point.x);
  std::string svg;
  double free_from = 0;
  for (double value : values) {
    const std::string text = number_text(value);
    const double x = frame.x(value), half = digit * static_cast<double>(text.size()) / 2;
    const bool room = x - half >= free_from;
    svg += line(x, height - bottom, x, height - bottom + (room ? 6 : 3), "class=\"axis\"");
    if (!room) continue;
    svg += label(x, height - bottom + 21, "middle", text);
    free_from = x + half + 8;
  }
  return svg + line(left, height - bottom, width - right, height - bottom, "class=\"axis\"") +
         label((left + width - right) / 2, height - 10, "middle",
               chart.x.title + (chart.x.log ? "  (logarithmic)" : ""));
}

std::string y_axis(const Chart& chart, const Frame& frame) {
  std::string svg = label(8, 16, "start", chart.y.title + (chart.y.log ? "  (logarithmic)" : ""));
  for (double tick : frame.y_ticks) {
    const double y = frame.y(tick);
    svg += line(left, y, width - right, y, "class=\"grid\"") +
           label(left - 8, y + 4.5, "end", number_text(tick));
  }
  return svg;
}

std::string tooltip(const Chart& chart, const Series& series, const Point& point) {
  std::string text = series.label + "\n" + chart.x.title + ": " + number_text(point.x) + "\n" +
                     chart.y.title + ": " + number_text(point.y);
  if (point.joules) text += "\n" + number_text(*point.joules) + " J a run";
  return text;
}

/// Draws the line of a series, with gaps where there are no numbers, and its markers.
std::string curve(const Chart& chart, const Frame& frame, std::size_t s) {
  const Series& series = chart.series[s];
  std::string lines, markers, points;
  const auto close = [&] {
    if (points.find(' ') != std::string::npos)
      lines += "<polyline points=\"" + points + "\" " + stroke(s) + "/>";
    points.clear();
  };
  for (const Point& point : series.points) {
    if (!shown(chart, point)) {
      close();
      continue;
    }
    const double x = frame.x(point.x), y = frame.y(point.y);
    points += (points.empty() ? "" : " ") + decimal(x, 1) + "," + decimal(y, 1);
    markers += marker(s, x, y, tooltip(chart, series, point));
  }
  close();
  return lines + markers;
}

/// The end of a line, and the place of its number.
struct End {
  std::size_t series;
  double x, y, label_y;
};

/// Places numbers beside the ends of the lines, moved apart if they would overlap.
std::vector<End> ends_of(const Chart& chart, const Frame& frame) {
  std::vector<End> ends;
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const auto& points = chart.series[s].points;
    const auto last =
        std::find_if(points.rbegin(), points.rend(), [&](const Point& p) { return shown(chart, p); });
    if (last != points.rend()) ends.push_back({s, frame.x(last->x), frame.y(last->y), frame.y(last->y)});
  }
  std::stable_sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.y < b.y; });
  constexpr double apart = 15;
  for (std::size_t i = 1; i < ends.size(); ++i)
    ends[i].label_y = std::max(ends[i].label_y, ends[i - 1].label_y + apart);
  double lowest = height - bottom - 2;
  for (std::size_t i = ends.size(); i-- > 0; lowest = ends[i].label_y - apart)
    ends[i].label_y = std::min(ends[i].label_y, lowest);
  return ends;
}

std::string end_numbers(const std::vector<End>& ends) {
  std::string svg;
  const double x = width - right + 8;
  for (std::size_t i = 0; i < ends.size(); ++i)
    svg += line(ends[i].x + 7, ends[i].y, x - 2, ends[i].label_y, "class=\"leader\"") + "<text" + at("x", x) +
           at("y", ends[i].label_y + 4.5) + " font-size=\"13\" class=\"number\">" + std::to_string(i + 1) +
           "</text>";
  return svg;
}

/// Lists the series in the order of the ends of their lines, then those without a line.
std::vector<Plot::Entry> entries_of(const Chart& chart, const std::vector<End>& ends) {
  std::vector<Plot::Entry> entries;
  const auto add = [&](std::size_t s, std::size_t number) {
    entries.push_back({s, number, chart.series[s].label, chart.series[s].note});
  };
  for (std::size_t i = 0; i < ends.size(); ++i) add(ends[i].series, i + 1);
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    if (std::any_of(ends.begin(), ends.end(), [&](const End& end) { return end.series == s; })) continue;
    const Series& series = chart.series[s];
    const auto same = std::find_if(entries.begin(), entries.end(), [&](const Plot::Entry& entry) {
      return entry.number == 0 && !series.device.empty() &&
             chart.series[entry.series].device == series.device;
    });
    if (same == entries.end()) {
      add(s, 0);
      continue;
    }
    same->label += "; " + series.label;
    if (same->note.find(series.note) == std::string::npos)
      same->note += (same->note.empty() ? "" : "; ") + series.note;
  }
  return entries;
}

std::string legend(const std::vector<Plot::Entry>& entries, const std::string& reasons) {
  std::string html = "<ol class=\"legend\">";
  for (const Plot::Entry& entry : entries) {
    const bool drawn = entry.number > 0, here = drawn || reasons.empty();
    html += drawn ? "<li><b>" + std::to_string(entry.number) +
                        "</b><svg viewBox=\"0 0 44 14\" width=\"44\" height=\"14\" aria-hidden=\"true\">" +
                        line_sample(entry.series) + "</svg>"
                  : "<li><b>–</b><i>no points</i>";
    html += "<span>" + escape(grouped_numbers(entry.label)) +
            (entry.note.empty() ? ""
             : here             ? "<small>" + escape(grouped_numbers(entry.note)) + "</small>"
                                : " <a href=\"#" + reasons + "\">why</a>") +
            "</span></li>";
  }
  return html + "</ol>";
}

}  // namespace

const char* const chart_style = R"css(
.chart { display: flex; flex-wrap: wrap; gap: 12px 28px; align-items: flex-start; margin-top: 14px; }
.chart .plot { flex: 2 1 400px; min-width: 0; max-width: 760px; }
.chart .plot svg { width: 100%; }
ol.legend { list-style: none; margin: 8px 0 0; padding: 0; flex: 1 1 240px; font-size: 14.5px; }
ol.legend li { display: grid; grid-template-columns: 1.4em 48px 1fr; align-items: start; padding: 5px 0; }
ol.legend b { font-weight: 600; } ol.legend svg { margin-top: 5px; }
ol.legend i { color: var(--quiet); font-size: 11px; line-height: 1.2; margin-top: 3px; }
ol.legend span { overflow-wrap: anywhere; }
ol.legend small { display: block; color: var(--quiet); font-size: 12.5px; } ol.legend a { color: inherit; }
@media print {
  .chart { margin-top: 6px; gap: 6px 18px; } .chart .plot { flex: 0 0 56%; }
  ol.legend { flex: 1 1 38%; font-size: 11.5px; } ol.legend li { padding: 2px 0; grid-template-columns: 1.4em 42px 1fr; }
  ol.legend svg { margin-top: 2px; width: 36px; } ol.legend small { font-size: 10.5px; }
}
)css";

bool has_points(const Chart& chart, const Series& series) {
  return std::any_of(series.points.begin(), series.points.end(),
                     [&](const Point& point) { return shown(chart, point); });
}

std::string line_sample(std::size_t series) {
  return line(2, 7, 42, 7, stroke(series)) + marker(series, 22, 7, "");
}

Plot plot_of(const Chart& asked) {
  const Chart chart = readable(asked);
  const Frame frame = frame_of(chart);
  const std::vector<End> ends = ends_of(chart, frame);
  Plot plot{"", entries_of(chart, ends)};
  if (ends.empty()) {
    plot.marks =
        "<text" + at("x", width / 2) + at("y", height / 2) +
        " text-anchor=\"middle\" font-size=\"15\" class=\"quiet\">nothing could be measured here</text>";
    return plot;
  }
  plot.marks =
      "<g aria-hidden=\"true\">" + y_axis(chart, frame) + x_axis(chart, frame) + end_numbers(ends) + "</g>";
  for (std::size_t s = 0; s < chart.series.size(); ++s) plot.marks += curve(chart, frame, s);
  return plot;
}

std::string line_chart(const Chart& chart, const std::string& reasons) {
  const Plot plot = plot_of(chart);
  if (std::none_of(plot.legend.begin(), plot.legend.end(),
                   [](const auto& entry) { return entry.number > 0; }))
    return "<p class=\"note\">Nothing could be measured here.</p>" + legend(plot.legend, reasons);
  const std::string w = decimal(width, 0), h = decimal(height, 0);
  return "<div class=\"chart\"><div class=\"plot\"><svg viewBox=\"0 0 " + w + " " + h + "\" width=\"" + w +
         "\" height=\"" + h + "\" role=\"group\" aria-label=\"" + escape(grouped_numbers(chart.title)) +
         "\">" + plot.marks + "</svg></div>" + legend(plot.legend, reasons) + "</div>";
}

}  // namespace kith::report
