// The parts of the page; each returns HTML.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "report/report.hpp"

namespace kith::report {

/// One cell of a map.
struct MapCell {
  double strength = 0;  ///< of its colour, up to 1; 0: it has none, and nothing is written in it
  bool good = true;     ///< the colour of what is as it should be, or of what is not
  std::string text;     ///< in the cell, where there is room
  std::string title;    ///< for those who point at it
};

/// Classes against classes as a picture.
struct ClassMap {
  std::string label;          ///< for those who cannot see it
  std::string rows, columns;  ///< what they are, at the edges
  std::vector<std::string> classes;
  std::function<MapCell(std::size_t row, std::size_t column)> cell;
  std::size_t digits = 0;  ///< all texts in one size, in which so many fit; 0: each as large as fits
};
std::string class_map(const ClassMap& map);

/// The confusion matrix: a cell's strength is its share of its row.
std::string heat_map(const Confusion& confusion, const std::vector<std::string>& classes);

/// Mean distances of classes: a cell's strength is its share of the largest.
///   mean  [classes, classes]
std::string distance_map(const std::vector<double>& mean, const std::vector<std::string>& classes);

/// The picture with its heading, beside the most frequent mistakes.
std::string confusion_section(const Confusion& confusion, const std::vector<std::string>& classes);

/// Precision, recall and F1 of each class.
///   no_answer  the last class stands for queries without an answer, and is left out of the means
std::string class_section(const Confusion& confusion, const std::vector<std::string>& classes,
                          bool no_answer);

/// A cell of the list at the head of a page; `more` is small print.
std::string fact(const std::string& name, const std::string& value, const std::string& more = {});

/// Share of right answers in large letters, a sentence, and a bar.
///   lead  HTML
std::string headline(const std::string& kind, const Confusion& confusion, const std::string& lead);

/// The last part of a path, escaped.
std::string file_name(const std::string& path);

/// `body` as a whole page.
///   more_style  rules beside those of `style`
std::string document(const std::string& title, const std::string& body, const std::string& more_style = {});

/// Accuracy over k. Of many points only the best and that of `k` are marked.
std::string sweep_chart(const std::vector<SweepPoint>& sweep, std::int64_t total, std::int64_t k);

/// Misclassified rows beside their neighbours: pictures where rows are images, else tables.
std::string samples(const Report& report);

/// Device, plan and seconds.
std::string how(const How& report);

/// The style sheet.
extern const char* const style;

}  // namespace kith::report
