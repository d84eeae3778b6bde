// Descriptions of devices that need not exist, to test plans.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "../../backends/cuda/profile.hpp"
#include "kith/device.hpp"

namespace kith::tests {

/// Sets what all devices have in common, and what every GPU has.
inline DeviceInfo described(const std::string& backend, const std::string& driver, DeviceKind kind) {
  DeviceInfo info;
  info.spec = backend == "cpu" ? backend : backend + ":0";
  info.backend = backend;
  info.driver = driver;
  info.kind = kind;
  info.train_block = info.query_block = 32;
  info.selectors = {Selector::threshold,  Selector::radix,     Selector::bubble,  Selector::insertion,
                    Selector::local_sort, Selector::k_min,     Selector::bitonic, Selector::odd_even,
                    Selector::rank_sort,  Selector::merge_sort};
  info.fused_max_k = 256;
  return info;
}

inline DeviceInfo described_cpu(const std::string& set, std::vector<Proposer> proposers) {
  DeviceInfo info = described("cpu", set, DeviceKind::cpu);
  info.compute_units = 8;
  info.memory_bytes = info.largest_allocation = std::size_t{64} << 30;
  info.train_block = 16;
  info.query_block = 8;
  info.profile.host_threads = true;
  info.profile.vector_floats = set == "amx" || set == "avx512" ? 16 : set == "avx2" ? 8 : 1;
  info.fused_max_k = 0xFFFFFFFFu;
  info.selectors.insert(info.selectors.end(), {Selector::selection_sort, Selector::quick_sort});
  info.proposers = std::move(proposers);
  return info;
}

inline DeviceInfo described_pocl() {
  DeviceInfo info = described("opencl", "3.1", DeviceKind::cpu);
  info.compute_units = 8;
  info.memory_bytes = std::size_t{62} << 30;
  info.largest_allocation = std::size_t{16} << 30;
  info.local_memory_bytes = std::size_t{256} << 10;
  info.train_block = 16;
  info.query_block = 8;
  info.fused_max_k = 0xFFFFFFFEu;
  info.proposers = {Proposer::gemm, Proposer::dot};
  return info;
}

/// Returns a GPU with the sizes of an H200.
inline DeviceInfo described_gpu(const std::string& backend) {
  const bool cuda = backend == "cuda";
  DeviceInfo info = described(backend, cuda ? "CUDA 13.0" : "580.95", DeviceKind::gpu);
  info.compute_units = 132;
  info.memory_bytes = 150'000'000'000;
  info.largest_allocation = cuda ? info.memory_bytes : info.memory_bytes / 4;
  info.local_memory_bytes = cuda ? 232448 : 49152;
  if (cuda) {
    info.profile = cuda::kernel_profile();
    info.profile.pairs_at_once = 261 * 16 * 766;
    info.profile.at_once_max_k = 32;
  }
  if (!cuda) info.profile.byte_queries = std::numeric_limits<std::uint32_t>::max();
  info.proposers = {Proposer::gemm};
  if (!cuda) info.proposers.push_back(Proposer::dot);
  info.proposers.insert(info.proposers.end(), {Proposer::fp16, Proposer::int8});
  return info;
}

/// Returns a small GPU, for which kith has no kernels of its own.
inline DeviceInfo described_small_gpu() {
  DeviceInfo info = described("opencl", "23.1", DeviceKind::gpu);
  info.compute_units = 24;
  info.memory_bytes = std::size_t{4} << 30;
  info.largest_allocation = std::size_t{1} << 30;
  info.local_memory_bytes = std::size_t{64} << 10;
  info.proposers = {Proposer::gemm, Proposer::dot};
  return info;
}

}  // namespace kith::tests
