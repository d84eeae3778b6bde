// Declares what the parts of `kith-lab bench` share.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command/shared/command.hpp"
#include "kith/device.hpp"
#include "lab/energy/energy.hpp"
#include "workloads/clock.hpp"
#include "workloads/operations.hpp"
#include "workloads/stored.hpp"
#include "workloads/workloads.hpp"

namespace kith::command {

struct BenchFlags {
  std::string workload = "all";
  std::string device = "auto";
  std::string json;     ///< file
  std::string answers;  ///< folder of what the searches found; empty: they are not kept
  std::string fashion_mnist = "/usr/share/datasets/fashion-mnist";
  double scale = 1;
  std::int64_t repeats = 20;
  std::int64_t seconds = 10;  ///< for the samples of one workload on one device
  bool list = false;
  bool prepare = false;                ///< time the preparation of rows instead of searches
  bool energy = false;                 ///< count joules, which takes at least a second per workload
                                       ///< and device
  std::string residence = "resident";  ///< where the training rows stay
  PlanFlags plan;
};

/// Holds the rows of a workload in host memory. For select, train holds the distances, [m, n].
struct BenchData {
  workloads::Workload workload;
  workloads::Rows train, queries;
  std::string source;  ///< `uniform`, `integers`, `bytes`, or a folder
  std::optional<workloads::StoredRows> stored_train, stored_queries;  ///< rows of another element than f32

  RowsView train_rows() const { return stored_train ? stored_train->view() : RowsView(train.view()); }
  RowsView query_rows() const { return stored_queries ? stored_queries->view() : RowsView(queries.view()); }
};

bool has_fashion_mnist(const BenchFlags& flags);

/// Makes or reads the rows. Throws bad_file: Fashion-MNIST is not there.
BenchData make_data(const workloads::Workload& workload, const BenchFlags& flags);

/// Returns whether a workload is left out because its data are not here; notes it.
bool left_out(const workloads::Workload& workload, const BenchFlags& flags);

using workloads::Clock;

/// Calls sample(false) to warm up, then sample(true) until there are enough samples, or the time is up and
/// there are a few.
template <class Sample>
void take_samples(const BenchFlags& flags, const Sample& sample) {
  constexpr int warm_ups = 2;
  constexpr double warm_seconds = 0.1;  // at least: clocks of an idle device take a while to rise
  constexpr std::int64_t fewest_samples = 3;
  const Clock warming;
  for (int i = 0; i < warm_ups || warming.seconds() < warm_seconds; ++i) {
    throw_if_interrupted("bench");
    sample(false);
  }
  const Clock clock;
  for (std::int64_t i = 0; i < flags.repeats; ++i) {
    throw_if_interrupted("bench");
    if (i >= fewest_samples && clock.seconds() > static_cast<double>(flags.seconds)) return;
    sample(true);
  }
}

/// Holds what was measured, in seconds, by the device's clock unless a field says otherwise.
struct Measured {
  std::string refusal;                   ///< why the device does not do it
  std::string difference;                ///< the answer was wrong, so nothing was timed
  std::int64_t checked = 0;              ///< queries whose bits were compared
  std::vector<double> device;            ///< every sample
  std::vector<double> host;              ///< host clock around the same work, until finish() returned
  std::vector<double> total;             ///< host clock around the whole call, transfers included
  double index_build = 0;                ///< host clock; includes the upload of the rows
  std::size_t device_bytes = 0;          ///< Index::memory_bytes() after the first search
  double boxes = 0;                      ///< host clock of making boxes a second time; 0: there are none
  double first_run = 0;                  ///< host clock around the first call: compilers, first allocations
  std::map<std::string, double> steps;   ///< of one more run, which is traced; upload and download by the
                                         ///< host clock
  std::optional<energy::Energy> energy;  ///< energy of the whole call, or of one run of the stage
  std::string plan;                      ///< explain()
  std::string short_plan;
};

/// Checks the bits against the CPU on a sample of queries, warms up, and takes the time.
///   meter  counts the joules of the device; null: they are not counted
Measured measure(const Device& device, const Device& cpu, const BenchData& data, const BenchFlags& flags,
                 energy::EnergyMeter* meter);

/// Measures a workload whose Index grows by rows that are made meanwhile.
void measure_grown(const Device& device, const Device& cpu, const BenchData& data, const BenchFlags& flags,
                   Measured& measured);

// These functions make what is printed, and written as JSON.

/// `n = 60000, dims = 784, ...`
std::string sizes(const BenchData& data);

/// Returns milliseconds with four digits, so that columns can be compared.
std::string milliseconds(double seconds);

/// Returns a line for each device, and the scale.
std::string device_lines(const BenchFlags& flags, const std::vector<Device>& devices);

/// Returns device_lines(), and what the columns of block() mean.
std::string preface(const BenchFlags& flags, const std::vector<Device>& devices);

/// Returns the block of a workload: its sizes, a row per device, and remarks.
std::string block(const BenchData& data, const std::vector<Device>& devices,
                  const std::vector<Measured>& measured, bool with_energy);

/// Returns the JSON file without results.
nlohmann::ordered_json json_of(const BenchFlags& flags);

/// entry_of() returns the JSON of a workload on a device, to_json() adds what was measured.
nlohmann::ordered_json entry_of(const Device& device, const BenchData& data);
nlohmann::ordered_json to_json(const Device& device, const BenchData& data, const Measured& measured);

// --prepare

/// Returns why --prepare cannot time a workload; empty if it can.
std::string why_not_prepared(const workloads::Workload& workload);

/// Returns the workloads of `wanted` that have rows to prepare. Throws invalid_argument: a workload that was
/// named has none, or an option does not go with --prepare.
std::vector<workloads::Workload> workloads_to_prepare(const BenchFlags& flags,
                                                      std::vector<workloads::Workload> wanted);

/// Times and prints, and adds results to `json`. Returns an exit code.
int bench_prepare(const BenchFlags& flags, const std::vector<workloads::Workload>& wanted,
                  const std::vector<Device>& devices, nlohmann::ordered_json& json);

}  // namespace kith::command
