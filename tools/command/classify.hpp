// What `kith classify` was asked, and what came out.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "files/table.hpp"
#include "kith/classifier.hpp"
#include "tables.hpp"

namespace kith::command {

struct ClassifyFlags {
  TableFlags tables;
  PlanFlags plan;
  std::string labels;
  std::vector<std::string> query;
  std::string truth;
  std::int64_t k = 5;
  std::vector<std::int64_t> k_sweep;
  Metric metric = Metric::squared_l2;
  std::string device = "auto";
  std::string out;
  std::string report;
  std::vector<std::string> class_names;
  std::int64_t expect = -1;  ///< -1: nothing is expected
  bool explain = false;
};

struct Classified {
  files::Table train, queries;
  files::Labels known;                ///< of the training rows
  files::Labels truth;                ///< of the queries; empty where they are not known
  std::vector<std::int64_t> classes;  ///< codes, ascending
  std::vector<std::int64_t> ks;       ///< ascending
  std::size_t k_at = 0;               ///< the place of -k in ks
  Sweep sweep;
  DeviceInfo device;
  Trace trace;
  std::vector<std::pair<std::string, double>> seconds;

  /// [m], for -k.
  const std::vector<std::int64_t>& labels() const { return sweep.label[k_at]; }
};

/// The page about it. Throws invalid_argument: --class-names has too few names.
std::string report_page(const ClassifyFlags& flags, const Classified& done);

}  // namespace kith::command
