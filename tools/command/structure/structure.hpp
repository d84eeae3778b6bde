// What `kith structure` was asked, and what came out.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "command/input/training.hpp"
#include "command/shared/command.hpp"
#include "command/shared/output_file.hpp"
#include "kith/structure.hpp"
#include "report/confusion.hpp"

namespace kith::command {

struct StructureFlags {
  TrainingFlags training;
  PlanFlags plan;
  Metric metric = Metric::squared_l2;
  std::string device = "auto";
  std::string errors, sample_classes, distances;  ///< files
  std::string csv, report;
  OutputFlags output;
  bool json = false;
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

/// For people, for programs, and a line for each pair of classes (RFC 4180).
std::string structure_text(const StructureFlags& flags, const Structured& done);
std::string structure_json(const StructureFlags& flags, const Structured& done);
std::string structure_csv(const Structured& done);

/// The page about it.
std::string structure_page(const StructureFlags& flags, const Structured& done);

}  // namespace kith::command
