// Lists the CUDA devices, and has the entry point of the plug-in.
#include <stdlib.h>  // secure_getenv

#include <charconv>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "nearest/nearest_at_once.hpp"
#include "profile.hpp"
#include "propose/collect.hpp"
#include "steps/steps.hpp"

namespace kith::cuda {
namespace {

/// Turns 13000 into "13.0".
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Returns the driver's version; 0 without a driver.
int driver_version() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
}

/// Returns why CUDA cannot be used here.
std::string reason_for(cudaError_t error) {
  const int driver = driver_version();
  if (driver == 0) return "no devices: CUDA driver missing";
  if (error == cudaErrorInsufficientDriver)
    return "no devices: driver " + version_text(driver) + " too old for CUDA " +
           std::to_string(CUDART_VERSION / 1000);
  if (error == cudaErrorNoDevice) return "no devices: the CUDA driver finds no GPU";
  return std::string("no devices: cudaGetDeviceCount returned ") + cudaGetErrorName(error) + " (" +
         cudaGetErrorString(error) + ")";
}

std::string pci_of(const cudaDeviceProp& device) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", static_cast<unsigned>(device.pciDomainID),
                static_cast<unsigned>(device.pciBusID), static_cast<unsigned>(device.pciDeviceID));
  return text;
}

/// Returns the shared memory of a block. The environment variable KITH_CUDA_SHARED_KIB lowers it, for tests
/// of kernels as on devices with less; a value that is no such number is ignored.
std::size_t shared_bytes_of(const cudaDeviceProp& device) {
  constexpr std::size_t least = 64, kib = 1024;  // compute capability 7.5
  const std::size_t bytes = device.sharedMemPerBlockOptin;
  const char* const given = secure_getenv("KITH_CUDA_SHARED_KIB");
  if (!given) return bytes;
  const std::string_view text = given;
  std::size_t wanted = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), wanted);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && wanted >= least && wanted < bytes / kib ? wanted * kib : bytes;
}

DeviceInfo info_of(const cudaDeviceProp& device, std::size_t place) {
  DeviceInfo info;
  info.spec = "cuda:" + std::to_string(place);
  info.backend = "cuda";
  info.name = device.name;
  info.platform = "NVIDIA CUDA";
  info.driver = "CUDA " + version_text(driver_version());
  info.kind = DeviceKind::gpu;
  info.pci = pci_of(device);
  info.compute_units = static_cast<std::uint32_t>(device.multiProcessorCount);
  info.memory_bytes = device.totalGlobalMem;
  info.largest_allocation = device.totalGlobalMem;
  info.local_memory_bytes = shared_bytes_of(device);
  info.train_block = rows_a_block;
  info.query_block = rows_a_block;
  info.profile = kernel_profile();
  if (device.cooperativeLaunch) {
    info.profile.pairs_at_once = pairs_at_once(info.compute_units, info.local_memory_bytes);
    info.profile.at_once_max_k = at_once_max_k;
  }
  info.selectors = {Selector::threshold,  Selector::radix,     Selector::bubble,  Selector::insertion,
                    Selector::local_sort, Selector::k_min,     Selector::bitonic, Selector::odd_even,
                    Selector::rank_sort,  Selector::merge_sort};
  info.fused_max_k = nearest_max_k;
  info.boxes_max_k = spi::boxes_max_k;
  info.proposers = {Proposer::gemm};
  const auto capability = static_cast<std::uint32_t>(device.major * 10 + device.minor);
  if (refusal_of_tensor_cores(capability, info.local_memory_bytes).empty())
    info.proposers.insert(info.proposers.end(), {Proposer::fp16, Proposer::int8, Proposer::int4});
  if (takes_collect_hopper(capability, info.local_memory_bytes))
    info.profile.byte_queries = std::numeric_limits<std::uint32_t>::max();
  return info;
}

/// Returns whether kernels are compiled for this device; nvcc 13 supports no older ones.
bool is_new_enough(const cudaDeviceProp& device) {
  return device.major * 10 + device.minor >= 75;
}

class CudaBackend : public spi::Backend {
 public:
  spi::Found find() override {
    spi::Found found;
    ordinals_.clear();
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    std::string too_old;
    for (int ordinal = 0; error == cudaSuccess && ordinal < count; ++ordinal) {
      cudaDeviceProp device{};
      error = cudaGetDeviceProperties(&device, ordinal);
      if (error != cudaSuccess) break;
      if (!is_new_enough(device)) {
        too_old = std::string(device.name) + " has compute capability " + std::to_string(device.major) + "." +
                  std::to_string(device.minor) + ", and kith needs 7.5";
        continue;
      }
      found.devices.push_back(info_of(device, found.devices.size()));
      ordinals_.push_back(ordinal);
    }
    cudaGetLastError();
    if (found.devices.empty())
      found.reason = !too_old.empty()
                         ? "no devices: " + too_old
                         : reason_for(count == 0 && error == cudaSuccess ? cudaErrorNoDevice : error);
    return found;
  }

  std::unique_ptr<spi::Device> open(std::uint32_t place) override {
    spi::Found found = find();
    if (place >= found.devices.size())
      throw Error(Errc::unavailable, "cuda: there is no device " + std::to_string(place) + " of " +
                                         std::to_string(found.devices.size()) +
                                         "; `kith devices` lists them");
    return std::make_unique<Device>(std::move(found.devices[place]), ordinals_[place]);
  }

 private:
  std::vector<int> ordinals_;  // CUDA's number of each device found
};

}  // namespace
}  // namespace kith::cuda

extern "C" KITH_API const kith::spi::Plugin* kith_plugin();

extern "C" KITH_API const kith::spi::Plugin* kith_plugin() {
  static const kith::spi::Plugin plugin{
      kith::spi::plugin_abi, "cuda",
      []() -> std::unique_ptr<kith::spi::Backend> { return std::make_unique<kith::cuda::CudaBackend>(); }};
  return &plugin;
}
