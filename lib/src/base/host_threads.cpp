#include "base/host_threads.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace kith {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t most_threads = 4096;

/// quota / period, rounded up; 0 where one of them is no number above 0 (`max`, -1).
std::uint32_t cores_of(const std::string& quota, const std::string& period) {
  const auto number = [](const std::string& text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : 0;
  };
  const std::int64_t microseconds = number(quota), of = number(period);
  if (microseconds <= 0 || of <= 0) return 0;
  return static_cast<std::uint32_t>(std::min<std::int64_t>((microseconds - 1) / of + 1, most_threads));
}

std::string first_word(const fs::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

/// What one group says: by version 2, else by version 1.
std::uint32_t cores_of_group(const fs::path& group) {
  std::ifstream both(group / "cpu.max");
  std::string quota, period;
  if (both >> quota >> period) return cores_of(quota, period);
  return cores_of(first_word(group / "cpu.cfs_quota_us"), first_word(group / "cpu.cfs_period_us"));
}

/// The least of a group and of those around it, below `root`.
std::uint32_t cores_below(const fs::path& root, const fs::path& path) {
  std::uint32_t least = cores_of_group(root);
  fs::path group = root;
  for (const fs::path& part : path.relative_path()) {
    group /= part;
    if (const std::uint32_t cores = cores_of_group(group)) least = least ? std::min(least, cores) : cores;
  }
  return least;
}

bool names_cpu(const std::string& controllers) {
  std::istringstream names(controllers);
  for (std::string name; std::getline(names, name, ',');)
    if (name == "cpu") return true;
  return false;
}

std::uint32_t cores_by_affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return static_cast<std::uint32_t>(std::max(CPU_COUNT(&set), 1));
  return std::max(std::thread::hardware_concurrency(), 1u);  // more cores than a cpu_set_t can name
}

std::uint32_t cores_by_quota() {
  static const std::uint32_t cores = [] {
    std::ifstream file("/proc/self/cgroup");
    std::string groups;
    std::getline(file, groups, '\0');
    return cores_of_quota(groups, "/sys/fs/cgroup");
  }();
  return cores;
}

/// What the environment asks for; 0: nothing.
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

std::uint32_t cores_of_quota(std::string_view groups, const std::filesystem::path& root) {
  std::istringstream lines{std::string(groups)};
  std::uint32_t least = 0;
  for (std::string line; std::getline(lines, line);) {  // hierarchy:controllers:path
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::uint32_t cores = 0;
    if (controllers.empty()) {
      cores = cores_below(root, line.substr(second + 1));
    } else if (names_cpu(controllers)) {
      cores = cores_below(root / controllers, line.substr(second + 1));
      if (!cores) cores = cores_below(root / "cpu", line.substr(second + 1));
    }
    if (cores) least = least ? std::min(least, cores) : cores;
  }
  return least;
}

std::uint32_t usable_cores() {
  const std::uint32_t cores = cores_by_affinity(), quota = cores_by_quota();
  return quota ? std::min(cores, quota) : cores;
}

std::uint32_t team_size(std::uint32_t asked) {
  const std::uint32_t cores = usable_cores(), wished = threads_asked_for();
  const std::uint32_t usual = wished ? wished : cores;
  return asked ? std::min(asked, std::max(usual, cores)) : usual;
}

}  // namespace kith
