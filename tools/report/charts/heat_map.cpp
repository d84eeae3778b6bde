#include <algorithm>
#include <array>
#include <cmath>

#include "report/charts/axis.hpp"
#include "report/charts/image.hpp"
#include "report/charts/palette.hpp"
#include "report/parts.hpp"
#include "report/text.hpp"

namespace kith::report {
namespace {

constexpr std::size_t numbered_classes = 40;  ///< with more classes, numbers would be too small to read
constexpr std::size_t drawn_classes = 120;    ///< with more classes, a bitmap replaces SVG
constexpr std::size_t roomy_classes = 10;     ///< with more classes, no list fits beside the map on paper
constexpr std::size_t precise_classes = 12;   ///< with more classes, distances have three digits
constexpr std::size_t label_length = 16;      ///< characters of a class name beside the map
constexpr std::size_t title_length = 60;      ///< characters of a class name in the title of a cell
constexpr double least_width = 540;           ///< width of the map on a narrow screen
constexpr std::size_t listed_cells = 300;     ///< if the table of all cells would be too large

/// The unit of large numbers in a map, so that they fit its cells.
struct Unit {
  double size;
  const char* name;
};

Unit unit_of(double largest) {
  constexpr std::array<Unit, 3> units = {
      {{1e9, ", in billions"}, {1e6, ", in millions"}, {1e3, ", in thousands"}}};
  for (const Unit& unit : units)
    if (largest >= 100 * unit.size) return unit;
  return {1, ""};
}

/// Returns the opacity of a cell that is not empty. The square root makes mistakes of a few percent visible.
double strength(const Confusion& confusion, std::size_t truth, std::size_t predicted) {
  const std::int64_t count = confusion.at(truth, predicted);
  return 0.12 + 0.88 * std::sqrt(static_cast<double>(count) / static_cast<double>(confusion.truth(truth)));
}

struct Layout {
  double cell, font, left, top;
};

Layout layout_of(const std::vector<std::string>& classes) {
  std::size_t longest = 1;
  for (const std::string& name : classes)
    longest = std::max(longest, std::min(label_length, characters(name)));
  const double cell = std::clamp(660.0 / static_cast<double>(classes.size()), 7.0, 104.0);
  const double font = std::clamp(cell * 0.62, 6.0, 15.0);
  const double room = static_cast<double>(longest) * font * 0.62 + 12;
  const bool upright = room > cell;  // turns names above the columns if they are too wide
  return {cell, font, room + 24, upright ? room + 22 : font + 32};
}

///   content  HTML
std::string text(double x, double y, const std::string& attributes, const std::string& content) {
  return "<text x=\"" + decimal(x, 1) + "\" y=\"" + decimal(y, 1) + "\" " + attributes + ">" + content +
         "</text>";
}

std::string cell_title(const Confusion& confusion, const std::vector<std::string>& classes, std::size_t truth,
                       std::size_t predicted) {
  const std::int64_t count = confusion.at(truth, predicted);
  const double share = static_cast<double>(count) / static_cast<double>(confusion.truth(truth));
  return name_text(classes[truth], title_length) + " taken for " +
         (truth == predicted ? "itself" : name_text(classes[predicted], title_length)) + ": " +
         grouped(count) + " of " + grouped(confusion.truth(truth)) + " (" + percent(share, 1) + ")";
}

std::string draw_cell(const ClassMap& map, const Layout& layout, std::size_t row, std::size_t column) {
  const double gap = layout.cell > 16 ? 2 : 1;
  const double x = layout.left + static_cast<double>(column) * layout.cell;
  const double y = layout.top + static_cast<double>(row) * layout.cell;
  const MapCell cell = map.cell(row, column);
  const std::string rect = "<rect x=\"" + decimal(x, 1) + "\" y=\"" + decimal(y, 1) + "\" width=\"" +
                           decimal(layout.cell - gap, 1) + "\" height=\"" + decimal(layout.cell - gap, 1) +
                           "\" rx=\"" + (layout.cell > 30 ? "4" : "1") + "\" ";
  if (cell.strength == 0) return rect + "class=\"none\" fill-opacity=\".45\"/>";
  const char* const fill = cell.good ? "good" : "bad";
  std::string svg = "<g role=\"img\"><title>" + cell.title + "</title>" + rect + "class=\"" + fill +
                    "\" fill-opacity=\"" + decimal(cell.strength, 2) + "\"/>";
  if (map.classes.size() <= numbered_classes) {
    const double fitting =
        (layout.cell - gap) / (0.62 * static_cast<double>(std::max(characters(cell.text), map.digits)) + 0.4);
    svg += text(x + (layout.cell - gap) / 2, y + (layout.cell - gap) / 2,
                "text-anchor=\"middle\" dominant-baseline=\"central\" font-size=\"" +
                    decimal(std::min(layout.font, fitting), 1) + "\" class=\"" +
                    text_class(fill, std::round(100 * cell.strength) / 100) + "\"",
                escape(cell.text));
  }
  return svg + "</g>";
}

/// Writes the name of a class beside the map, with the full name in a title if it was cut.
std::string label(const std::string& name, double x, double y, const std::string& attributes) {
  std::string content = name_text(name, label_length);
  if (characters(name) > label_length)
    content = "<title>" + name_text(name, title_length) + "</title>" + content;
  return text(x, y, attributes, content);
}

std::string names(const ClassMap& map, const Layout& layout, double size) {
  const std::string font = "font-size=\"" + decimal(layout.font, 1) + "\" ";
  std::string svg = text(layout.left + size / 2, 14,
                         "text-anchor=\"middle\" class=\"quiet\" font-size=\"15\"", map.columns);
  svg += "<g transform=\"translate(12 " + decimal(layout.top + size / 2, 1) + ") rotate(-90)\">" +
         text(0, 0, "text-anchor=\"middle\" class=\"quiet\" font-size=\"15\"", map.rows) + "</g>";
  for (std::size_t c = 0; c < map.classes.size(); ++c) {
    const double middle = (static_cast<double>(c) + 0.5) * layout.cell - 1;
    const std::string& name = map.classes[c];
    svg += label(name, layout.left - 8, layout.top + middle,
                 font + "text-anchor=\"end\" dominant-baseline=\"central\"");
    if (layout.top > layout.font + 33)
      svg += "<g transform=\"translate(" + decimal(layout.left + middle, 1) + " " +
             decimal(layout.top - 8, 1) + ") rotate(-90)\">" +
             label(name, 0, 0, font + "dominant-baseline=\"central\"") + "</g>";
    else
      svg += label(name, layout.left + middle, layout.top - 8, font + "text-anchor=\"middle\"");
  }
  return svg;
}

/// Draws one pixel a cell, for very many classes.
std::string bitmap(const ClassMap& map) {
  const std::size_t classes = map.classes.size();
  std::vector<std::uint8_t> pixels;
  pixels.reserve(4 * classes * classes);
  for (std::size_t row = 0; row < classes; ++row)
    for (std::size_t column = 0; column < classes; ++column) {
      const MapCell cell = map.cell(row, column);
      const auto alpha = static_cast<std::uint8_t>(255 * cell.strength);
      if (cell.good)
        pixels.insert(pixels.end(), {0x15, 0xAA, 0xBF, alpha});
      else
        pixels.insert(pixels.end(), {0xF7, 0x67, 0x07, alpha});
    }
  return "<img alt=\"" + escape(map.label) + ": rows are " + escape(map.rows) + ", columns " +
         escape(map.columns) + "\" src=\"" + png_address(pixels, classes, classes, 4) + "\">";
}

/// Writes the map as a table, a row for each class.
std::string matrix_table(const ClassMap& map) {
  std::vector<Column> head = {{escape(map.rows) + " \\ " + escape(map.columns)}};
  for (const std::string& name : map.classes) head.push_back({name_html(name, label_length), true});
  std::string rows;
  for (std::size_t row = 0; row < map.classes.size(); ++row) {
    rows += "<tr>" + row_name(name_html(map.classes[row]));
    for (std::size_t column = 0; column < map.classes.size(); ++column) {
      const MapCell cell = map.cell(row, column);
      rows += number_cell(cell.strength == 0 ? map.empty : escape(cell.text));
    }
    rows += "</tr>\n";
  }
  return "<details><summary>The same as a table</summary>" +
         table(escape(map.label) + ", as a table", head, rows) + "</details>";
}

/// Returns the strongest cells off the diagonal, as a table, for very many classes.
std::string cells_table(const ClassMap& map) {
  struct Place {
    std::size_t row, column;
    double strength;
  };
  std::vector<Place> places;
  const std::size_t classes = map.classes.size();
  for (std::size_t row = 0; row < classes; ++row)
    for (std::size_t column = 0; column < classes; ++column) {
      const double strength = row == column ? 0 : map.cell(row, column).strength;
      if (strength > 0) places.push_back({row, column, strength});
    }
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.strength > b.strength; });
  const std::size_t all = places.size();
  places.resize(std::min(all, listed_cells));
  std::string rows;
  for (const Place& place : places)
    rows += "<tr>" + row_name(name_html(map.classes[place.row])) + "<td class=\"name\">" +
            name_html(map.classes[place.column]) + "</td>" +
            number_cell(escape(map.cell(place.row, place.column).text)) + "</tr>\n";
  return "<details><summary>" +
         (all > places.size() ? "The " + std::to_string(places.size()) + " strongest of " +
                                    grouped(static_cast<std::int64_t>(all)) + " pairs of two classes"
                              : std::string("All pairs of two classes")) +
         ", as a table</summary>" +
         table(escape(map.label) + ", as a table",
               {{escape(map.rows)}, {escape(map.columns)}, {escape(map.value), true}}, rows) +
         "</details>";
}

std::string drawing(const ClassMap& map) {
  const Layout layout = layout_of(map.classes);
  const double size = layout.cell * static_cast<double>(map.classes.size());
  const std::string width = decimal(layout.left + size, 0), height = decimal(layout.top + size, 0);
  // A narrower map would have numbers too small to read, so the map scrolls.
  const std::string least = decimal(std::min(layout.left + size, least_width), 0);
  std::string svg = "<svg viewBox=\"0 0 " + width + " " + height + "\" width=\"" + width + "\" height=\"" +
                    height + "\" style=\"min-width:" + least + "px\" role=\"group\" aria-label=\"" +
                    escape(map.label) + "\"><g aria-hidden=\"true\">" + names(map, layout, size) + "</g>";
  for (std::size_t row = 0; row < map.classes.size(); ++row)
    for (std::size_t column = 0; column < map.classes.size(); ++column)
      svg += draw_cell(map, layout, row, column);
  return svg + "</svg>";
}

}  // namespace

const char* beside_map(const std::vector<std::string>& classes) {
  return classes.size() > roomy_classes ? "columns roomy" : "columns";
}

std::string class_map(const ClassMap& map) {
  const std::size_t classes = map.classes.size();
  return scrolling(escape(map.label), classes > drawn_classes ? bitmap(map) : drawing(map), "map") +
         (classes > numbered_classes ? cells_table(map) : matrix_table(map));
}

std::string heat_map(const Confusion& confusion, const std::vector<std::string>& classes) {
  ClassMap map{"Which class was taken for which", "true class", "taken for", classes, {}, 0, "0", "rows"};
  map.cell = [&](std::size_t truth, std::size_t predicted) -> MapCell {
    const std::int64_t count = confusion.at(truth, predicted);
    if (count == 0) return {};
    return {strength(confusion, truth, predicted), truth == predicted, grouped(count),
            cell_title(confusion, classes, truth, predicted)};
  };
  return class_map(map);
}

std::string distance_map(const std::vector<double>& mean, const std::vector<std::string>& classes) {
  const int digits = classes.size() <= precise_classes ? 4 : 3;
  double largest = 0;
  for (const double value : mean)
    if (std::isfinite(value)) largest = std::max(largest, value);
  const Unit unit = unit_of(largest);
  const auto short_text = [&](double value) { return value_text(value / unit.size, digits); };
  std::size_t longest = 1;
  for (const double value : mean) longest = std::max(longest, characters(short_text(value)));
  ClassMap map{"Mean distances of classes" + std::string(unit.name),
               "class",
               "class" + std::string(unit.name),
               classes,
               {},
               longest,
               "",
               "mean distance"};
  map.cell = [&](std::size_t row, std::size_t column) -> MapCell {
    const double value = mean[row * classes.size() + column];
    const double share = largest > 0 && value <= largest ? value / largest : 1;
    return {0.1 + 0.9 * share, row != column, short_text(value),
            name_text(classes[row], title_length) +
                (row == column ? " in itself: " : " to " + name_text(classes[column], title_length) + ": ") +
                value_text(value, 6)};
  };
  return class_map(map);
}

}  // namespace kith::report
