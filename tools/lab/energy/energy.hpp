// Measures the joules of a piece of work by the counters of the machine: NVML for NVIDIA's boards, opened at
// run time, and RAPL for processors. Both count a whole board or package, with idle power and everything else
// that runs there, so the joules are an upper bound for the work itself.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kith/device.hpp"

namespace kith::energy {

/// Holds the needed functions of NVIDIA's management library, with the types of its documentation; status 0
/// is success. It is a table, so that tests can replace them.
struct Nvml {
  using Board = void*;
  std::function<int()> init, shutdown;
  std::function<const char*(int status)> error_text;
  std::function<int(unsigned* count)> count;
  std::function<int(unsigned ordinal, Board* board)> board_at;
  std::function<int(const char* address, Board* board)> board_by_pci;
  std::function<int(Board board, char* text, unsigned size)> name;
  std::function<int(Board board, unsigned long long* millijoules)> energy;  ///< since the driver was loaded
};

/// Says where the counters are looked for.
struct Sources {
  std::string powercap = "/sys/class/powercap";
  std::string nvml_library = "libnvidia-ml.so.1";
  std::optional<Nvml> nvml = {};  ///< instead of the library
};

/// A counter only rises.
class Counter {
 public:
  Counter() = default;
  virtual ~Counter() = default;
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  /// Returns the joules since it was opened. Throws device_failure: it cannot be read any more.
  virtual double joules() = 0;
};

/// Holds a counter and what it counts; or null, and why there is none.
struct Opened {
  std::unique_ptr<Counter> counter;
  std::string what;  ///< half a sentence
};

Opened open_nvml(const DeviceInfo& device, const Sources& sources);
Opened open_rapl(const Sources& sources);

/// Holds the joules and seconds of one run, as the mean of many runs.
struct Energy {
  double joules = 0;
  double seconds = 0;      ///< by the host's clock
  std::int64_t runs = 0;   ///< how many were counted
  std::int64_t steps = 0;  ///< how often the counter moved meanwhile
};

/// Measures the joules of work on a device.
class EnergyMeter {
 public:
  explicit EnergyMeter(const DeviceInfo& device, const Sources& sources = {});
  explicit EnergyMeter(Opened opened) : opened_(std::move(opened)) {}

  bool available() const { return opened_.counter != nullptr; }

  /// Returns where joules come from, what they include, and how often the counter moves; or `no joules: ` and
  /// the reason. It is one sentence without a full stop.
  std::string source() const;

  /// Repeats `run`, which returns when the work is done, for at least `seconds` and until the counter has
  /// moved 20 times, but at most for five times `seconds`. The difference between the counter's first and
  /// last step is divided by the runs between them.
  ///   returns  nothing if there is no counter, or it did not move twice
  /// Throws what `run` throws, and device_failure.
  std::optional<Energy> measure(const std::function<void()>& run, double seconds = 1);

 private:
  Opened opened_;
  double step_seconds_ = 0;  ///< smallest mean time between two steps seen so far; long runs hide some steps
  bool stuck_ = false;       ///< the last measurement saw no two steps
};

}  // namespace kith::energy
