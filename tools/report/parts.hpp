// Writes the parts of pages as HTML.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "report/class_parts.hpp"

namespace kith::report {

constexpr std::size_t listed_classes = 200;  ///< rows of a table of classes
constexpr std::size_t pair_name = 40;        ///< characters of a class in such a list

/// Describes a cell of a map.
struct MapCell {
  double strength = 0;  ///< opacity of its colour, up to 1; 0: no colour and no text
  bool good = true;     ///< chooses the colour of right, or that of wrong
  std::string text;     ///< shown in the cell if it fits
  std::string title;    ///< HTML, for those who point at the cell or cannot see it
};

/// Shows a matrix of classes as a picture and as a table.
struct ClassMap {
  std::string label;          ///< what the map shows
  std::string rows, columns;  ///< titles at the edges
  std::vector<std::string> classes;
  std::function<MapCell(std::size_t row, std::size_t column)> cell;
  std::size_t digits = 0;  ///< most digits of a text, so that all have one size; 0: each as large as fits
  std::string empty;       ///< text of the table for a cell without colour
  std::string value;       ///< what the texts mean
};
std::string class_map(const ClassMap& map);

/// Returns the classes of the box with a map and a list beside it, or below it if the map needs the width.
const char* beside_map(const std::vector<std::string>& classes);

/// Draws the confusion matrix: the strength of a cell is its share of its row.
std::string heat_map(const Confusion& confusion, const std::vector<std::string>& classes);

/// Draws mean distances between classes: the strength of a cell is its share of the largest.
///   mean  [classes, classes]
std::string distance_map(const std::vector<double>& mean, const std::vector<std::string>& classes);

/// Writes an entry of the list at the head of a page; `more` is small print.
std::string fact(const std::string& name, const std::string& value, const std::string& more = {});

/// Return the last part of a path, as HTML, and as text where no element is allowed.
std::string file_name(const std::string& path);
std::string file_title(const std::string& path);

/// Describes the title of a column of a table; numbers are aligned to the right.
struct Column {
  std::string title;  ///< HTML
  bool number = false;
};

/// Writes a table that scrolls if it does not fit, also by keyboard.
///   caption  HTML without elements: says what the table is, for people who cannot see the page; unique on
///            the page
///   rows     HTML: those of the body
///   foot     HTML: a row, or empty
///   look     a class of the style sheet
std::string table(const std::string& caption, const std::vector<Column>& head, const std::string& rows,
                  const std::string& foot = {}, const std::string& look = {});

/// Writes an element that scrolls if it does not fit, also by keyboard.
std::string scrolling(const std::string& label, const std::string& html, const std::string& more_class = {});

std::string row_name(const std::string& html);  ///< the header cell of a row
std::string number_cell(const std::string& text);

/// Writes `body` as a complete page. On paper the section `last` stays on one sheet with the footer.
///   title       HTML without elements
///   more_style  rules besides those of `style_sheet`
std::string html_document(const std::string& title, const std::string& body, const std::string& last,
                          const std::string& more_style = {});

/// Returns the style sheet of all pages.
std::string style_sheet();

}  // namespace kith::report
