// Gives tests of tuning the description of a device that need not exist, and measurements on it.
#pragma once

#include <stdlib.h>

#include "common/device.hpp"
#include "kith/spi.hpp"
#include "kith/unstable/plan.hpp"
#include "kith/unstable/tuning.hpp"
#include "kith/version.hpp"

namespace kith::tests {

/// Sets or unsets an environment variable, and restores it when destroyed.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) {
    if (value)
      setenv(name_, value, 1);
    else
      unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> before_;
};

inline DeviceInfo gpu() {
  DeviceInfo info;
  info.spec = "cuda:0";
  info.backend = "cuda";
  info.name = "GPU (R) No. 1";
  info.driver = "CUDA 13.0";
  info.kind = DeviceKind::gpu;
  info.compute_units = 8;
  info.memory_bytes = std::size_t{4} << 30;
  info.largest_allocation = std::size_t{1} << 30;
  info.train_block = info.query_block = 16;
  info.selectors = {Selector::threshold, Selector::radix, Selector::bubble};
  info.fused_max_k = 64;
  info.proposers = {Proposer::gemm};
  return info;
}

inline TuningEntry entry(const Problem& problem, Selector selector, std::int64_t lists = 1) {
  return {problem, false, selector, Proposer::none, lists, problem.m, problem.n, 0.0012, 0.0019};
}

inline const Problem usual{Metric::squared_l2, 65536, 256, 32, 100};

inline Tuning tuning_with(const DeviceInfo& device, std::vector<TuningEntry> entries) {
  Tuning tuning = empty_tuning(device);
  tuning.entries = std::move(entries);
  return tuning;
}

inline DeviceInfo tuned(DeviceInfo device, std::vector<TuningEntry> entries) {
  device.tuning = std::make_shared<const Tuning>(tuning_with(device, std::move(entries)));
  return device;
}

/// Appends a 64-bit FNV-1a checksum, implemented independently of the library.
inline std::string sealed(const std::string& text) {
  std::uint64_t sum = 14695981039346656037u;
  for (const char c : text) {
    sum ^= static_cast<unsigned char>(c);
    sum *= 1099511628211u;
  }
  char line[32];
  std::snprintf(line, sizeof line, "checksum %016llx\n", static_cast<unsigned long long>(sum));
  return text + line;
}

inline const std::string library =
    std::to_string(KITH_VERSION_MAJOR) + "." + std::to_string(KITH_VERSION_MINOR) + "." +
    std::to_string(KITH_VERSION_PATCH) + ", plug-in interface " + std::to_string(spi::plugin_abi);
inline const std::string head = "kith tuning 1\nkith " + library +
                                "\nbackend cuda\ndevice GPU (R) No. 1\ndriver CUDA 13.0\ncompute units 8\n";
inline const std::string line =
    "metric=squared_l2 n=65536 m=256 dims=32 k=100 way=radix proposer=none lists=8 query_tile=256 "
    "train_tile=65536 seconds=0.0012 built_in_seconds=0.0019\n";

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace kith::tests
