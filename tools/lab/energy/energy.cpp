#include "lab/energy/energy.hpp"

#include <algorithm>

#include "files/printed.hpp"
#include "workloads/clock.hpp"

namespace kith::energy {
namespace {

constexpr std::int64_t enough_steps = 20;
constexpr double longest = 5;                 ///< times the wanted seconds
constexpr double least_look_seconds = 0.001;  ///< between two looks at the counter
constexpr double runs_a_look = 20;  ///< between looks, in which the device idles, runs take so many times
                                    ///< as long

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

Opened open_counter(const DeviceInfo& device, const Sources& sources) {
  if (device.kind == DeviceKind::cpu) return open_rapl(sources);
  if (device.backend == "cuda" || contains(device.platform, "NVIDIA") || contains(device.name, "NVIDIA"))
    return open_nvml(device, sources);
  return {nullptr, device.spec + " (" + device.name +
                       ") is neither a processor nor of NVIDIA, and kith knows only their counters"};
}

/// Holds the reading at the moment when the counter moved.
struct Step {
  double joules, seconds;
  std::int64_t runs;
};

}  // namespace

EnergyMeter::EnergyMeter(const DeviceInfo& device, const Sources& sources)
    : opened_(open_counter(device, sources)) {}

std::string EnergyMeter::source() const {
  if (!available()) return "no joules: " + opened_.what;
  if (stuck_ && step_seconds_ == 0)
    return "no joules: " + opened_.what + "; but it did not move while it was watched";
  std::string text = "joules: " + opened_.what;
  if (step_seconds_ > 0) text += files::printed("; seen to move every %.3g ms", step_seconds_ * 1e3);
  return text;
}

std::optional<Energy> EnergyMeter::measure(const std::function<void()>& run, double seconds) {
  if (!available()) return std::nullopt;
  Counter& counter = *opened_.counter;
  const workloads::Clock clock;
  const auto now = [&] { return clock.seconds(); };
  Step first{}, last{};
  std::int64_t runs = 0, steps = -1;  // the first step is where counting begins
  counter.joules();                   // the first look of a process takes longer than others
  const double before = now();
  double seen = counter.joules();
  const double look_seconds = std::max(least_look_seconds, runs_a_look * (now() - before));
  for (double at = now(); at < seconds || (steps < enough_steps && at < longest * seconds);) {
    const double look = at + look_seconds;
    do {
      run();
      ++runs;
      at = now();
    } while (at < look);
    const double joules = counter.joules();
    if (joules == seen) continue;
    seen = joules;
    last = {joules, at, runs};
    if (++steps == 0) first = last;
  }
  stuck_ = steps < 1;
  if (stuck_) return std::nullopt;
  const std::int64_t counted = last.runs - first.runs;
  const double span = last.seconds - first.seconds;
  const double step = span / static_cast<double>(steps);
  if (step_seconds_ == 0 || step < step_seconds_) step_seconds_ = step;
  return Energy{(last.joules - first.joules) / static_cast<double>(counted),
                span / static_cast<double>(counted), counted, steps};
}

}  // namespace kith::energy
