// The functions that `kith compare` and `kith verify` share: the devices, the reference, and the outcome.
#pragma once

#include <algorithm>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command/shared/command.hpp"
#include "kith/device.hpp"
#include "kith/rows_view.hpp"
#include "workloads/cases.hpp"
#include "workloads/clock.hpp"

namespace kith::command {

/// A device, or none: then the plain program that follows the contract step by step.
using Subject = std::optional<Device>;
std::string subject_name(const Subject& subject);

/// Opens every device of this machine, or those that were named. Throws unavailable: none opens.
///   where  the subcommand, for messages
std::vector<Device> open_devices(const std::string& where, const std::string& specs);

/// Opens the device called `spec`. The default is cpu, or plain if otherwise the CPU back end would only be
/// compared with itself.
Subject open_reference(const std::string& spec, const std::vector<Device>& devices);

/// The outcome of one stage or search on one device.
struct Cell {
  std::string refusal;     ///< why the device refuses it
  std::string difference;  ///< first row that differs, and both values; empty: same bits
  double seconds = 0;      ///< device time, best of a few runs
  std::string plan;        ///< explain(), for whole searches
};

inline constexpr int most_runs = 10;        ///< the first run is a warm-up
inline constexpr double long_enough = 0.2;  ///< seconds; after that no further run begins

/// Returns the best time of a few runs.
template <class Run>
double best_seconds(const Run& run) {
  double best = run(), all = best;
  for (int i = 1; i < most_runs && all < long_enough; ++i) {
    const double seconds = run();
    all += seconds;
    best = std::min(best, seconds);
  }
  return best;
}

/// Calls `body`, and stores an Error that it throws in the cell.
template <class Body>
void in_cell(Cell& cell, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    if (error.code() == Errc::interrupted) throw;
    (workloads::is_refusal(error) ? cell.refusal : cell.difference) = error.what();
  }
}

/// Counts the outcomes of a whole run.
struct Outcome {
  std::size_t same = 0, different = 0, refused = 0;

  void take(bool was_refused, bool is_different) {
    ++(was_refused ? refused : is_different ? different : same);
  }
  std::string text() const;
  int code() const;
};

/// Describes the problem: `squared_l2, n = 8192, ...`
std::string sizes_text(Metric metric, const RowsView& train, const RowsView& queries, std::int64_t k);
nlohmann::ordered_json sizes_json(const std::string& data, Metric metric, const RowsView& train,
                                  const RowsView& queries, std::int64_t k);

/// Returns the options that `add()` adds to `app`.
std::vector<CLI::Option*> added_options(CLI::App& app, const std::function<void()>& add);

/// Makes parsing refuse each of these options without `other`, or together with it.
void each_needs(const std::vector<CLI::Option*>& options, CLI::Option* other);
void each_excludes(const std::vector<CLI::Option*>& options, CLI::Option* other);

}  // namespace kith::command
