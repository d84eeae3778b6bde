#include "host/host_threads.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "host/control_groups.hpp"

namespace kith {
namespace {

constexpr std::uint32_t most_threads = 4096;

/// Returns quota / period, rounded up; 0 if either is no number above 0 (`max`, -1).
std::uint32_t cores_of(const std::string& quota, const std::string& period) {
  const std::int64_t microseconds = bound_in(quota), of = bound_in(period);
  if (!microseconds || !of) return 0;
  return static_cast<std::uint32_t>(std::min<std::int64_t>((microseconds - 1) / of + 1, most_threads));
}

/// Returns the limit of one group: by version 2, else by version 1.
std::uint32_t cores_of_group(const std::filesystem::path& group) {
  const std::vector<std::string> both = words_in(group / "cpu.max");
  if (both.size() >= 2) return cores_of(both[0], both[1]);
  const std::vector<std::string> quota = words_in(group / "cpu.cfs_quota_us"),
                                 period = words_in(group / "cpu.cfs_period_us");
  return quota.empty() || period.empty() ? 0 : cores_of(quota[0], period[0]);
}

std::uint32_t cores_by_affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return static_cast<std::uint32_t>(std::max(CPU_COUNT(&set), 1));
  return std::max(std::thread::hardware_concurrency(), 1u);  // there are more cores than a cpu_set_t can hold
}

/// Returns what cores_by_affinity() did at this tick of the kernel's clock, since asking takes a tenth of a
/// small search.
std::uint32_t cores_of_tick() {
  thread_local timespec tick{};
  thread_local std::uint32_t cores = 0;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  if (cores == 0 || now.tv_nsec != tick.tv_nsec || now.tv_sec != tick.tv_sec) {
    cores = cores_by_affinity();
    tick = now;
  }
  return cores;
}

std::uint32_t cores_by_quota() {
  static const std::uint32_t cores = cores_of_quota(group_folders("cpu"));
  return cores;
}

/// Returns the number of threads that the environment asks for; 0 if none.
std::uint32_t threads_asked_for() {
  for (const char* name : {"KITH_THREADS", "OMP_NUM_THREADS"})
    if (const char* text = std::getenv(name))
      if (const std::uint32_t threads = threads_in(text)) return threads;
  return 0;
}

}  // namespace

std::uint32_t threads_in(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool ends = end == text.data() + text.size() || *end == ',' || *end == ' ';
  return error == std::errc() && ends && value <= most_threads ? value : 0;
}

std::uint32_t cores_of_quota(std::span<const std::filesystem::path> groups) {
  std::uint32_t least = 0;
  for (const std::filesystem::path& group : groups)
    if (const std::uint32_t cores = cores_of_group(group)) least = least ? std::min(least, cores) : cores;
  return least;
}

std::uint32_t usable_cores() {
  const std::uint32_t cores = cores_of_tick(), quota = cores_by_quota();
  return quota ? std::min(cores, quota) : cores;
}

std::uint32_t team_size(std::uint32_t asked) {
  const std::uint32_t cores = usable_cores(), wished = threads_asked_for();
  const std::uint32_t usual = wished ? wished : cores;
  return asked ? std::min(asked, std::max(usual, cores)) : usual;
}

}  // namespace kith
