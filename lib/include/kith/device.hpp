// Lists the devices, and opens one as a handle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kith/export.hpp"
#include "kith/selector.hpp"
#include "kith/unstable/kernel_profile.hpp"

namespace kith {

namespace spi {
class Device;
struct CallersDevice;
}  // namespace spi

struct Tuning;

enum class DeviceKind { cpu, gpu, accelerator };

/// Returns `cpu`, `gpu` or `accelerator`.
KITH_API std::string_view name(DeviceKind kind);

/// Describes a device before it is opened. Sizes are in bytes.
struct DeviceInfo {
  std::string spec;      ///< what open_device() takes: `cpu`, `cuda:0`, `opencl:1`
  std::string backend;   ///< `cpu`, `opencl`, `cuda`
  std::string name;      ///< from its driver
  std::string platform;  ///< `NVIDIA CUDA`, `Portable Computing Language`, `host threads`, ...
  std::string driver;    ///< version of driver or instruction set in use
  DeviceKind kind = DeviceKind::cpu;
  std::uint32_t compute_units = 1;       ///< cores or multiprocessors
  std::size_t memory_bytes = 0;          ///< device memory
  std::size_t largest_allocation = 0;    ///< largest single block of device memory
  std::size_t local_memory_bytes = 0;    ///< memory shared by a work-group
  std::uint32_t train_block = 1;         ///< rows per block of training rows (spi.hpp, RowBlocks)
  std::uint32_t query_block = 1;         ///< rows per block of queries
  KernelProfile profile;                 ///< sizes that suit its kernels
  std::vector<Selector> selectors;       ///< selectors it has; never `automatic`
  std::uint32_t fused_max_k = 0;         ///< largest k of the fused step `nearest`; 0: it has none
  std::uint32_t boxes_max_k = 0;         ///< largest k of the step `boxes`; 0: it has none
  std::vector<Proposer> proposers;       ///< proposers it has besides `none`; their library may be missing
  std::shared_ptr<const Tuning> tuning;  ///< what `kith tune` measured on it; null: nothing
  std::string pci;                       ///< address, `0000:3b:00.0`; empty: unknown, or it has none
};

/// Describes a back end that kith knows, with its devices or the reason why it has none.
struct BackendInfo {
  std::string name;
  std::vector<DeviceInfo> devices;
  std::string reason;  ///< empty if there are devices
};

/// Returns all back ends: those of this build, then other plug-ins found.
KITH_API std::vector<BackendInfo> backends();

/// Returns the devices of all back ends, in the order of backends().
KITH_API std::vector<DeviceInfo> devices();

/// Returns a sentence for each plug-in file and each driver that could not be used: which, and why.
KITH_API std::vector<std::string> load_failures();

/// Is a handle to an open device: copies share it, and it closes with the last copy and the last Index on it.
/// Any number of threads may use it. Do not keep one in a static variable: it would outlive its driver.
class KITH_API Device {
 public:
  /// Describes what open_device() opened.
  const DeviceInfo& info() const;

  struct State;
  explicit Device(std::shared_ptr<State> state) : state_(std::move(state)) {}
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

/// Opens a device, and tests that it is exact: fma chain, subnormals, a small search.
///   spec  `auto` (a CUDA device, else a GPU by OpenCL, else the CPU), `gpu` (the same, but never the CPU),
///         `cpu`, `cuda`, `cuda:1`, `opencl:0` (n-th OpenCL device), `opencl:nvidia` (part of the name of
///         device or platform, in upper or lower case). Several joined by `+` are a set of devices, used as
///         one device: `cuda:0+cuda:1`, `cuda:0+opencl:1+cpu`; `cuda:*` is all devices of a back end
/// Throws invalid_argument if the spec names no back end (lists those there are), or a device twice;
///        unavailable if there is no such device here (says why), or if it failed its self-test.
KITH_API Device open_device(std::string_view spec = "auto");

/// Opens a device in a context of the caller, for open_device() of kith/opencl.hpp.
KITH_API Device adopt_device(std::string_view backend, const spi::CallersDevice& callers);

}  // namespace kith
