// The declarations that the parts of `kith compare` share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/compare/subjects.hpp"
#include "command/input/training.hpp"
#include "workloads/cases.hpp"
#include "workloads/operations.hpp"

namespace kith::command {

struct CompareFlags {
  std::string device = "all";
  std::string reference;  ///< empty: cpu, or plain if only the CPU is compared
  std::string stage = "all";
  std::string data = "normal";
  TrainingFlags files;  ///< in place of --data: tables and arithmetic
  std::int64_t seed = 1, n = 8192, m = 64, dims = 32, k = 16, classes = 10;
  Metric metric = default_metric;
  std::string elements;  ///< --element: one type for all rows, or one for training rows and one for queries
  std::int64_t reserve = 0;
  PlanFlags plan;
  std::string where = "compare";  ///< the subcommand, for messages
  bool explain = false, json = false;

  std::uint64_t seed_bits() const { return static_cast<std::uint64_t>(seed); }
};

/// The rows to search, and all other settings that decide the answer.
struct CompareProblem {
  std::string data;                ///< name of the data or of the file
  workloads::Rows train, queries;  ///< the rows as a caller passes them
  /// Values of `train` and `queries` for whole searches in double precision; else empty.
  std::vector<double> train_doubles, query_doubles;
  Element train_element = Element::f32,
          query_element = Element::f32;  ///< of whole searches; stages take the values as float32
  std::int64_t reserve = 0;              ///< IndexOptions::reserve
  std::vector<std::int64_t> labels;
  std::uint64_t seed = 1;  ///< seed of filters and weights
  std::int64_t k = 1, lists = 1;
  Metric metric = default_metric;
  SearchOptions options;

  Arithmetic arithmetic() const { return train_doubles.empty() ? Arithmetic::f32 : Arithmetic::f64; }
  std::string sizes() const { return sizes_text(metric, train.view(), queries.view(), k); }
  nlohmann::ordered_json json() const;  ///< `lists` is included
};

/// The results of one stage on all devices.
struct CompareLine {
  std::string title;
  double reference_seconds = 0;
  std::vector<Cell> cells;  ///< one cell per device
};

/// Runs the stages called `stages` ("search" and "classify" are the whole) on every device, and
/// compares the bits with the reference.
std::vector<CompareLine> compare(const CompareProblem& problem, const std::vector<Device>& devices,
                                 const Subject& reference, const std::vector<std::string>& stages,
                                 Selector selector);

/// Compares `expected` with what `run(device, cell)` returns
/// on each device. `run` may refuse by setting cell.refusal.
template <class Result, class Run>
CompareLine compare_line(const std::string& title, double reference_seconds, const Result& expected,
                         const std::vector<Device>& devices, const Run& run) {
  throw_if_interrupted("compare");
  CompareLine line{title, reference_seconds, {}};
  for (const Device& device : devices) {
    Cell& cell = line.cells.emplace_back();
    in_cell(cell, [&] {
      const Result actual = run(device, cell);
      if (cell.refusal.empty()) cell.difference = difference(expected, actual);
    });
  }
  return line;
}

/// Runs a whole search, or classification, on every device.
CompareLine whole_line(const CompareProblem& problem, const std::vector<Device>& devices,
                       const Subject& reference, bool classify);

/// Opens the device of `--reference`.
void add_reference_option(CLI::App& app, CompareFlags& flags);

/// The origin of the rows: files, or kinds of data and their sizes.
void add_problem_options(CLI::App& app, CompareFlags& flags);

/// Returns the kinds that --data names; a single one, which is unused, if --train names a file. Throws
/// invalid_argument: no kind has that name, or the metric refuses it.
std::vector<workloads::DataKind> data_kinds(const CompareFlags& flags);

/// Throws invalid_argument: k > n, or values that could overflow negative_dot.
CompareProblem make_problem(const CompareFlags& flags, workloads::DataKind kind);

}  // namespace kith::command
