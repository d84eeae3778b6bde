// Draws a line chart without its legend, for the page and for separate pictures.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/charts/chart.hpp"

namespace kith::report {

struct Plot {
  static constexpr double width = 580, height = 370;

  /// Describes a line of the legend: a series, or all series of one device that have no points.
  struct Entry {
    std::size_t series;  ///< the first one, an index into Chart::series
    std::size_t number;  ///< number at the end of its line, from 1; 0: it has no points
    std::string label;
    std::string note;  ///< distinct refusals
  };

  std::string marks;  ///< SVG elements, coloured by the classes of plot_style
  std::vector<Entry> legend;
};

Plot plot_of(const Chart& chart);

/// Returns whether the chart shows any point of the series.
bool has_points(const Chart& chart, const Series& series);

/// Draws a piece of the line of a series, with its marker: SVG elements, 44 by 14.
std::string line_sample(std::size_t series);

/// Holds CSS rules for everything in Plot::marks, by the variables of palette().
extern const char* const plot_style;

/// Holds CSS rules for everything that line_chart() puts around the plot.
extern const char* const chart_style;

}  // namespace kith::report
