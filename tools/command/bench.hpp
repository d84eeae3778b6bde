// What the parts of `kith bench` share.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "energy/energy.hpp"
#include "kith/device.hpp"
#include "kith/trace.hpp"
#include "workloads/operations.hpp"
#include "workloads/workloads.hpp"

namespace kith::command {

struct BenchFlags {
  std::string workload = "all";
  std::string device = "auto";
  std::string json;  ///< file
  std::string fashion_mnist = "/usr/share/datasets/fashion-mnist";
  double scale = 1;
  std::int64_t repeats = 20;
  std::int64_t seconds = 10;  ///< for the samples of one workload on one device
  bool list = false;
  bool energy = false;  ///< count joules, which takes a second or more a workload and device
  PlanFlags plan;
};

/// The rows of a workload, in host memory. For select, train holds the distances, [m, n].
struct BenchData {
  workloads::Workload workload;
  workloads::Rows train, queries;
  std::string source;  ///< `uniform`, or a folder
};

bool has_fashion_mnist(const BenchFlags& flags);

/// Throws bad_file: Fashion-MNIST is not there.
BenchData make_data(const workloads::Workload& workload, const BenchFlags& flags);

/// What was measured, in seconds. Times of the device's clock unless named otherwise.
struct Measured {
  std::string refusal;                   ///< why the device does not do it
  std::string difference;                ///< the answer was wrong, so nothing was timed
  std::int64_t checked = 0;              ///< queries whose bits were compared
  std::vector<double> device;            ///< every sample
  std::vector<double> host;              ///< host clock around the same work, until finish() returned
  std::vector<double> total;             ///< host clock around the whole call, transfers in
  double index_build = 0;                ///< host clock, upload of the rows included
  double first_run = 0;                  ///< host clock around the first call: compilers, first allocations
  std::map<std::string, double> steps;   ///< of one more, traced run; upload, download: host clock
  std::optional<energy::Energy> energy;  ///< of the whole call, or of one run of the stage
  std::string plan;                      ///< explain()
  std::string short_plan;
};

/// Check the bits against the CPU on a sample of queries, warm up, and time.
///   meter  counts the joules of the device; null: nobody does
Measured measure(const Device& device, const Device& cpu, const BenchData& data, const BenchFlags& flags,
                 energy::EnergyMeter* meter);

double median(std::vector<double> samples);

}  // namespace kith::command
