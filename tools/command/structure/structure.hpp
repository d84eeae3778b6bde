// What `kith structure` was asked, and what came out.
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
  report::Confusion nearest;  ///< of what class the nearest other sample of each is
  DeviceInfo device;
  Trace trace;
  std::vector<std::pair<std::string, double>> seconds;

  double mean(std::size_t a, std::size_t b) const { return matrix.mean[a * classes.size() + b]; }
  /// The class that lies nearest to class `a`, of several the first; `a` itself where it is alone.
  std::size_t nearest_class(std::size_t a) const;
  std::int64_t columns_counted() const;  ///< columns that distances go over
};

/// All that is printed and written of it. Refers to `done`.
report::Document structure_document(const StructureFlags& flags, const Structured& done);

}  // namespace kith::command
