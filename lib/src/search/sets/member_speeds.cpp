// Measures how fast the members of a set are.
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "base/float_guard.hpp"
#include "base/split_mix.hpp"
#include "device/device_set.hpp"
#include "device/device_state.hpp"
#include "device/timing.hpp"
#include "kith/index.hpp"
#include "kith/unstable/tuning.hpp"
#include "search/sets/shares.hpp"

namespace kith {
namespace {

/// Returns the measured seconds of `problem` on a device; 0 if it was not measured.
double tuned_seconds(const DeviceInfo& info, const Problem& problem) {
  if (!info.tuning) return 0;
  for (const TuningEntry& entry : info.tuning->entries)
    if (entry.problem == problem && entry.seconds > 0) return entry.seconds;
  return 0;
}

/// Returns speeds by a problem that was measured on all members: of this metric if possible, then with the
/// closest number of columns, then with the most work. Empty if there is none.
std::vector<double> tuned_speeds(const std::vector<Device>& members, Metric metric, std::int64_t dims) {
  std::vector<double> best;
  double best_distance = std::numeric_limits<double>::infinity(), best_work = 0;
  if (!members.front().info().tuning) return best;
  for (const TuningEntry& entry : members.front().info().tuning->entries) {
    const Problem& p = entry.problem;
    std::vector<double> speeds;
    for (const Device& member : members)
      if (const double seconds = tuned_seconds(member.info(), p); seconds > 0) speeds.push_back(1 / seconds);
    if (speeds.size() != members.size()) continue;
    constexpr double other_metric = 1e3;  // farther than any number of columns
    const double distance = std::fabs(std::log2(static_cast<double>(p.dims) / static_cast<double>(dims))) +
                            (p.metric == metric ? 0 : other_metric);
    const double work = static_cast<double>(p.n) * static_cast<double>(p.m);
    if (distance > best_distance || (distance == best_distance && work <= best_work)) continue;
    best = std::move(speeds);
    best_distance = distance;
    best_work = work;
  }
  return best;
}

bool all_of_one_kind(const std::vector<Device>& members) {
  const DeviceInfo& first = members.front().info();
  return std::all_of(members.begin(), members.end(), [&](const Device& member) {
    const DeviceInfo& info = member.info();
    return info.platform == first.platform && info.name == first.name &&
           info.compute_units == first.compute_units;
  });
}

/// Returns the seconds of a small search by the chain: the best of three after one that warms up. If a part
/// of the queries already takes long, the time of all is extrapolated from it.
double measured_seconds(const Device& device, MatrixView<const float> rows, MatrixView<const float> queries) {
  const Index index(device, rows, Metric::squared_l2);
  SearchOptions options;
  options.proposer = Proposer::none;
  options.boxes = false;
  constexpr std::int64_t k = 10, parts = 32;
  constexpr double long_seconds = 0.1;
  Neighbors found;
  const auto seconds_of = [&](MatrixView<const float> some) {
    const Stopwatch watch;
    index.search_into(some, k, found, options);
    return watch.seconds();
  };
  const MatrixView<const float> few = queries.slice(0, queries.rows() / parts);
  seconds_of(few);
  if (const double told = parts * seconds_of(few); told > long_seconds) return told;
  double best = std::numeric_limits<double>::infinity();
  seconds_of(queries);
  for (int i = 0; i < 3; ++i) best = std::min(best, seconds_of(queries));
  return std::max(best, std::numeric_limits<double>::min());
}

/// Measures members one after another, since they may share a processor.
std::vector<double> measured_speeds(const std::vector<Device>& members) {
  constexpr std::int64_t n = 16384, m = 256, dims = 32;
  std::vector<float> values(static_cast<std::size_t>((n + m) * dims));
  SplitMix64 random(1);
  for (float& value : values) value = static_cast<float>(random.next() >> 40);
  std::vector<double> speeds;
  speeds.reserve(members.size());
  for (const Device& member : members)
    speeds.push_back(1 /
                     measured_seconds(member, {values.data(), n, dims}, {values.data() + n * dims, m, dims}));
  return speeds;
}

}  // namespace

std::vector<double> member_speeds(const Device& set, Metric metric, std::int64_t dims) {
  const FloatGuard guard;
  const std::vector<Device>& members = members_of(set);
  if (std::vector<double> speeds = tuned_speeds(members, metric, dims); !speeds.empty()) return speeds;
  if (all_of_one_kind(members)) return std::vector<double>(members.size(), 1.0);
  Device::State& state = *set.state();
  {
    const std::lock_guard lock(state.speeds_mutex);
    if (!state.speeds.empty()) return state.speeds;
  }
  std::vector<double> speeds = measured_speeds(members);  // without the lock, since drivers may fork
  const std::lock_guard lock(state.speeds_mutex);
  if (state.speeds.empty()) state.speeds = std::move(speeds);
  return state.speeds;
}

}  // namespace kith
