// Runs each stage of a search on its own device. Data pass from device to device through the host; every copy
// is timed, and its bytes are counted.
//
// Ajorian, Bastan, Montazeri measure four such placements of distance and sort; Batlle, Ballber (2020)
// climb from one to the next.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"
#include "kith/selector.hpp"
#include "kith/spi.hpp"
#include "lab/experiments/measure.hpp"
#include "workloads/operations.hpp"

namespace kith::experiments {

/// Lists the stages that can be placed, in their order.
inline constexpr std::array placed_stages = {workloads::Stage::distance, workloads::Stage::select,
                                             workloads::Stage::merge, workloads::Stage::vote};

struct PlacedStage {
  workloads::Stage stage;
  Device device;
};

/// Holds distance, select, merge and vote, or the first few of these, in that order.
using Placement = std::vector<PlacedStage>;

/// Returns a text such as `distance=cpu, select=cuda:0`.
std::string placement_text(const Placement& placement);

/// Describes what is searched, in one tile: the distances [m, n] must fit on each device that uses them.
struct PlacedProblem {
  MatrixView<const float> train, queries;  ///< prepared: for cosine unit rows
  std::span<const std::uint32_t> labels;   ///< [n], each < classes, where there is a vote
  std::int64_t k = 1, lists = 1, classes = 1;
  Metric metric = Metric::squared_l2;
  Selector selector = Selector::threshold;  ///< never automatic
  spi::VoteMethod vote = spi::VoteMethod::automatic;
  std::uint32_t threads = 0;
  bool locked = false;  ///< copies pass through locked memory of the host, if a device has such
};

/// operation_of() returns a stage of the problem, operands_of() the operands of the first stage and of the
/// vote; those that an earlier stage makes are empty.
workloads::Operation operation_of(const PlacedProblem& problem, workloads::Stage stage);
workloads::Operands operands_of(const PlacedProblem& problem);

/// Holds the answer of a run.
struct PlacedAnswer {
  workloads::StageResult keys;   ///< keys of merge, or of select if there is no merge
  workloads::StageResult votes;  ///< where there is a vote
};

/// Returns where `actual` first differs from `expected`; empty if the bits are equal.
std::string difference(const PlacedAnswer& expected, const PlacedAnswer& actual);

/// Holds the time of a stage or of a copy.
struct PlacedStep {
  std::string what;              ///< `select bubble`; a copy: `distances`
  std::string from, to;          ///< specs, or `host`; a stage: the same
  std::size_t bytes = 0;         ///< bytes of a copy
  double device = not_measured;  ///< seconds of the device's clock, of a stage
  double host = 0;               ///< seconds of the host's clock

  bool is_copy() const { return from != to; }
  bool operator==(const PlacedStep&) const = default;
};

struct PlacedRun {
  std::vector<PlacedStep> steps;
  double total = 0;  ///< host clock: from rows in host memory to the answer in host memory

  double transfers() const;  ///< host seconds of all copies
  std::size_t bytes() const;
  bool operator==(const PlacedRun&) const = default;
};

/// Holds the median of several runs, and its measurement.
struct Placed {
  Measured measured;  ///< total: of the median run
  PlacedRun run;
};

/// Checks the bits, then takes the time. Counts joules if all stages are on one device.
Placed time_placed(const Settings& settings, const Placement& placement, const PlacedProblem& problem,
                   const PlacedAnswer& expected);

/// Runs all stages of `placement` on one device, with its fastest selector. Throws unsupported: it
/// refuses one.
PlacedAnswer placed_answer(const Device& device, const Placement& placement, PlacedProblem problem);

/// Returns the answer of the same stages by the slow program that follows the contract literally.
PlacedAnswer plain_placed_answer(const Placement& placement, const PlacedProblem& problem);

}  // namespace kith::experiments
