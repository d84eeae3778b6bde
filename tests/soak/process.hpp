// Reads what the system reports about this process.
#pragma once

#include <malloc.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

namespace kith::tests::soak {

/// Returns the number of entries in a folder of /proc.
inline std::int64_t entries(const char* folder) {
  std::int64_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

struct Facts {
  double seconds = 0;         ///< since the work began
  std::int64_t resident = 0;  ///< bytes
  std::int64_t descriptors = 0;
  std::int64_t threads = 0;
  std::int64_t heap = 0;  ///< bytes that malloc has given out and not got back
  double of_drivers = 0;  ///< bytes of these that drivers are known to keep
};

/// Measures the process. Reading the folder always adds one descriptor.
inline Facts facts(double seconds) {
  Facts now{.seconds = seconds};
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  now.resident = pages * sysconf(_SC_PAGESIZE);
  now.descriptors = entries("/proc/self/fd");
  now.threads = entries("/proc/self/task");
  const struct mallinfo2 heap = mallinfo2();
  now.heap = static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
  return now;
}

/// Returns bytes per second by which resident memory grows, by least squares.
inline double slope(const std::vector<Facts>& samples) {
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  const auto count = static_cast<double>(samples.size());
  for (const Facts& sample : samples) {
    mean_x += sample.seconds / count;
    mean_y += static_cast<double>(sample.resident) / count;
  }
  for (const Facts& sample : samples) {
    const double x = sample.seconds - mean_x;
    xx += x * x;
    xy += x * (static_cast<double>(sample.resident) - mean_y);
  }
  return xx > 0 ? xy / xx : 0;
}

}  // namespace kith::tests::soak
