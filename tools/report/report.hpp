// The page that `kith classify --report` writes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "files/table.hpp"
#include "kith/device.hpp"
#include "kith/neighbors.hpp"
#include "kith/trace.hpp"
#include "report/confusion.hpp"

namespace kith::report {

/// One k of a sweep.
struct SweepPoint {
  std::int64_t k = 0;
  std::int64_t correct = 0;
};

/// A query that was misclassified. Classes are positions in Report::classes.
struct Sample {
  std::int64_t query = 0;
  std::size_t truth = 0;
  std::size_t predicted = 0;
  std::uint32_t votes_truth = 0;
  std::uint32_t votes_predicted = 0;
  std::vector<std::int64_t> neighbors;        ///< [k] training rows, nearest first
  std::vector<float> distances;               ///< [k]
  std::vector<std::size_t> neighbor_classes;  ///< [k]
};

/// All the page says.
struct Report {
  const files::Table* train = nullptr;
  const files::Table* queries = nullptr;
  std::string metric;
  std::int64_t k = 0;
  std::vector<std::string> classes;  ///< names, in the order of the labels
  Confusion confusion;
  std::vector<SweepPoint> sweep;  ///< ascending by k; empty: none was asked for
  std::vector<Sample> samples;    ///< some of the misclassified
  DeviceInfo device;
  Trace trace;
  std::vector<std::pair<std::string, double>> seconds;  ///< of each stage of the run, in order
  std::string command;                                  ///< what was typed
};

/// The page: one self-contained UTF-8 HTML document, light and dark, without scripts.
std::string html(const Report& report);

}  // namespace kith::report
