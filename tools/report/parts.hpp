// The parts of pages; each returns HTML.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "report/class_parts.hpp"

namespace kith::report {

constexpr std::size_t listed_classes = 200;  ///< rows of a table of classes
constexpr std::size_t pair_name = 40;        ///< characters of a class in such a list

/// One cell of a map.
struct MapCell {
  double strength = 0;  ///< of its colour, up to 1; 0: it has none, and nothing is written in it
  bool good = true;     ///< the colour of what is as it should be, or of what is not
  std::string text;     ///< in the cell, where there is room
  std::string title;    ///< HTML, for those who point at it or cannot see it
};

/// Classes against classes as a picture, and as a table behind it.
struct ClassMap {
  std::string label;          ///< what it shows
  std::string rows, columns;  ///< what they are, at the edges
  std::vector<std::string> classes;
  std::function<MapCell(std::size_t row, std::size_t column)> cell;
  std::size_t digits = 0;  ///< all texts in one size, in which so many fit; 0: each as large as fits
  std::string empty;       ///< what the table has where a cell has no colour
  std::string value;       ///< what the texts are
};
std::string class_map(const ClassMap& map);

/// The classes of the box that has a map with a list beside it, or below it where the map needs the room.
const char* beside_map(const std::vector<std::string>& classes);

/// The confusion matrix: a cell's strength is its share of its row.
std::string heat_map(const Confusion& confusion, const std::vector<std::string>& classes);

/// Mean distances of classes: a cell's strength is its share of the largest.
///   mean  [classes, classes]
std::string distance_map(const std::vector<double>& mean, const std::vector<std::string>& classes);

/// A cell of the list at the head of a page; `more` is small print.
std::string fact(const std::string& name, const std::string& value, const std::string& more = {});

/// The last part of a path, as HTML, and where no element can stand.
std::string file_name(const std::string& path);
std::string file_title(const std::string& path);

/// What a column of a table is called; numbers stand on the right.
struct Column {
  std::string title;  ///< HTML
  bool number = false;
};

/// A table that scrolls where it has no room, and that keys can reach.
///   caption  HTML without elements: what it is, for those who cannot see where it stands; no other table of
///            the page has it
///   rows     HTML: those of the body
///   foot     HTML: a row, or empty
///   look     a class of the style sheet
std::string table(const std::string& caption, const std::vector<Column>& head, const std::string& rows,
                  const std::string& foot = {}, const std::string& look = {});

/// Something that scrolls where it has no room, and that keys can reach.
std::string scrolling(const std::string& label, const std::string& html, const std::string& more_class = {});

std::string row_name(const std::string& html);  ///< the cell that says what its row is about
std::string number_cell(const std::string& text);

/// `body` as a whole page. On paper `last`, a section, stays on one sheet with the foot below it.
///   title       HTML without elements
///   more_style  rules beside those of `style_sheet`
std::string html_document(const std::string& title, const std::string& body, const std::string& last,
                          const std::string& more_style = {});

/// The style sheet of every page.
std::string style_sheet();

}  // namespace kith::report
