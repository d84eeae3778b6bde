// The pages that `kith structure --report` and `kith select-features --report` write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/report.hpp"

namespace kith::report {

/// A row whose nearest other row is of another class. Classes are places in the list of them.
struct NearestError {
  std::int64_t row = 0, nearest = 0;
  std::size_t truth = 0, other = 0;
};

/// How classes lie.
struct StructureReport : How {
  std::string path;          ///< of the rows
  std::int64_t columns = 0;  ///< that count
  std::string metric;
  std::vector<std::string> classes;
  std::vector<double> mean;          ///< [classes, classes]
  double informativeness = 0;        ///< Q
  Confusion nearest;                 ///< of what class the nearest other row is
  std::vector<NearestError> errors;  ///< the first of them
};

/// A step of a selection of features.
struct SelectionStep {
  bool added = true;  ///< or dropped
  std::string column;
  std::int64_t size = 0;  ///< columns after it
  double score = 0;
  bool best = false;  ///< the set it leads to is the best
};

/// Which columns tell classes apart.
struct SelectionReport : How {
  std::string path;
  std::int64_t rows = 0, columns = 0, classes = 0;
  std::string metric;
  std::string method;  ///< `forward`
  std::string score;   ///< what it is: `informativeness Q`
  std::vector<SelectionStep> steps;
  std::vector<std::string> best;  ///< names of columns
  std::string list;               ///< the same as --features takes it; empty: it cannot
  double best_score = 0, all_score = 0;
  std::int64_t evaluated = 0;  ///< sets that were tried
};

/// One self-contained UTF-8 HTML document, light and dark, without scripts.
std::string html(const StructureReport& report);
std::string html(const SelectionReport& report);

}  // namespace kith::report
