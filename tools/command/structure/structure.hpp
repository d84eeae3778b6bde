// The options of `kith structure`, and its results.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "command/input/learned.hpp"
#include "kith/structure.hpp"
#include "report/confusion.hpp"

namespace kith::command {

struct StructureFlags : RowFlags {
  StructureFlags() { metric = Metric::squared_l2; }

  std::string errors, sample_classes, distances;  ///< files
  OutputFlags output;
};

struct Structured {
  Training training;
  std::vector<std::string> classes;  ///< names, in the order of the labels
  std::vector<std::int64_t> sizes;   ///< [classes]
  std::vector<std::uint32_t> codes;  ///< [n]
  ClassMatrix matrix;
  std::vector<SampleError> errors;
  report::Confusion nearest;  ///< by the class of each row's nearest other row
  DeviceInfo device;
  Trace trace;
  std::vector<std::pair<std::string, double>> seconds;

  double mean(std::size_t a, std::size_t b) const { return matrix.mean[a * classes.size() + b]; }
  /// Returns the class nearest to class `a`, the first if there are several; `a` itself if it is the
  /// only one.
  std::size_t nearest_class(std::size_t a) const;
  std::int64_t columns_counted() const;  ///< number of columns that distances use
};

/// Returns everything that is printed and written. Refers to `done`.
report::Document structure_document(const StructureFlags& flags, const Structured& done);

}  // namespace kith::command
