// Lists the OpenCL devices, and has the entry point of the plug-in.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>

#include "device.hpp"
#include "platforms.hpp"

namespace kith::opencl {
namespace {

DeviceKind kind_of(cl_device_type type) {
  if (type & CL_DEVICE_TYPE_GPU) return DeviceKind::gpu;
  return type & CL_DEVICE_TYPE_CPU ? DeviceKind::cpu : DeviceKind::accelerator;
}

/// Returns the local memory of a work-group. The environment variable KITH_CL_LOCAL_KIB lowers it, for tests
/// of kernels as on devices with less; a value that is no such number is ignored.
std::size_t local_bytes_of(const cl::Device& device) {
  constexpr std::size_t least = 1, kib = 1024;
  const auto bytes = static_cast<std::size_t>(device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>());
  const char* const given = secure_getenv("KITH_CL_LOCAL_KIB");
  if (!given) return bytes;
  const std::string_view text = given;
  std::size_t wanted = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), wanted);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && wanted >= least && wanted < bytes / kib ? wanted * kib : bytes;
}

/// Returns whether a device has double precision. The environment variable KITH_CL_FP64 (`off`) hides it, for
/// tests as on devices without it.
bool has_double_precision(const cl::Device& device) {
  const char* const wanted = secure_getenv("KITH_CL_FP64");
  if (wanted && std::strcmp(wanted, "off") == 0) return false;
  return device.getInfo<CL_DEVICE_EXTENSIONS>().find("cl_khr_fp64") != std::string::npos;
}

/// Returns whether NVIDIA's compiler accepts the PTX of tensor.cl for this device. Its results are tested
/// when the proposer is first used.
bool has_tensor_cores(const cl::Device& device, const Limits& limits) {
  constexpr cl_device_info nv_capability_major = 0x4000;
  constexpr std::size_t local_bytes = 49152;
  const std::string extensions = device.getInfo<CL_DEVICE_EXTENSIONS>();
  cl_uint major = 0;
  return extensions.find("cl_nv_device_attribute_query") != std::string::npos && limits.double_precision &&
         limits.local_memory_bytes >= local_bytes &&
         clGetDeviceInfo(device(), nv_capability_major, sizeof major, &major, nullptr) == CL_SUCCESS &&
         major >= 8;
}

/// Returns whether OpenCL C 3.0 has dot products of four bytes on this device. Earlier versions have none.
bool has_dot_products(const cl::Device& device) {
  return device.getInfo<CL_DEVICE_EXTENSIONS>().find("cl_khr_integer_dot_product") != std::string::npos &&
         device.getInfo<CL_DEVICE_VERSION>().starts_with("OpenCL 3");
}

Limits limits_of(const cl::Device& device) {
  Limits limits;
  limits.local_memory_bytes = local_bytes_of(device);
  limits.work_group = device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>();
  limits.vector_width = device.getInfo<CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT>();
  limits.part_alignment = std::max<std::size_t>(4, device.getInfo<CL_DEVICE_MEM_BASE_ADDR_ALIGN>() / 8);
  limits.double_precision = has_double_precision(device);
  limits.tensor_cores = has_tensor_cores(device, limits);
  limits.dot_products = has_dot_products(device);
  return limits;
}

/// The environment variable KITH_CL_FAMILY (`cpu`, `gpu`) selects the kernels that are written for the other
/// kind of device, to test GPU kernels on machines without a GPU.
Family family_of(DeviceKind kind, const Limits& limits) {
  const char* wanted = secure_getenv("KITH_CL_FAMILY");
  bool groups = kind == DeviceKind::gpu;
  if (wanted && std::strcmp(wanted, "gpu") == 0) groups = true;
  if (wanted && std::strcmp(wanted, "cpu") == 0) groups = false;
  // Embedded GPUs may be too small for the tiles, which need 256 items and 20 KiB.
  return groups && limits.work_group >= 256 && limits.local_memory_bytes >= 20480 ? Family::groups
                                                                                  : Family::lanes;
}

/// Returns the PCI address of a device, from cl_khr_pci_bus_info or cl_nv_device_attribute_query; empty
/// without these.
std::string pci_of(const cl::Device& device) {
  constexpr cl_device_info khr_info = 0x410F, nv_bus = 0x4008, nv_slot = 0x4009, nv_domain = 0x400A;
  const auto ask = [&](cl_device_info what, auto& answer) {
    return clGetDeviceInfo(device(), what, sizeof answer, &answer, nullptr) == CL_SUCCESS;
  };
  const std::string extensions = device.getInfo<CL_DEVICE_EXTENSIONS>();
  cl_uint at[4] = {};  // domain, bus, device, function
  if (extensions.find("cl_khr_pci_bus_info") == std::string::npos || !ask(khr_info, at)) {
    if (extensions.find("cl_nv_device_attribute_query") == std::string::npos) return "";
    cl_uint slot = 0;
    if (!ask(nv_bus, at[1]) || !ask(nv_slot, slot)) return "";
    if (!ask(nv_domain, at[0])) at[0] = 0;  // older drivers know a single domain
    at[2] = slot >> 3;
    at[3] = slot & 7;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", at[0], at[1], at[2], at[3]);
  return text;
}

/// Returns whether products of bytes are faster than those of floats: on tensor cores, or by instructions for
/// dot products of four bytes. A CPU runs kernels for GPUs only in tests, and then multiplies bytes, too.
bool multiplies_bytes(const cl::Device& device, DeviceKind kind, const Limits& limits) {
  constexpr cl_device_info accelerated_4x8bit_packed = 0x1075;
  constexpr std::size_t local_bytes = 32768;  // collect_tiles.cl
  if (limits.tensor_cores) return true;
  if (!limits.double_precision || limits.local_memory_bytes < local_bytes) return false;
  if (kind == DeviceKind::cpu) return true;
  cl_bool accelerated[6] = {};  // products of signed bytes are the first
  return limits.dot_products &&
         clGetDeviceInfo(device(), accelerated_4x8bit_packed, sizeof accelerated, accelerated, nullptr) ==
             CL_SUCCESS &&
         accelerated[0];
}

DeviceInfo info_of(const cl::Device& device, std::size_t ordinal) {
  const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
  DeviceInfo info;
  info.spec = "opencl:" + std::to_string(ordinal);
  info.backend = "opencl";
  info.name = device.getInfo<CL_DEVICE_NAME>();
  info.platform = platform.getInfo<CL_PLATFORM_NAME>();
  info.driver = device.getInfo<CL_DRIVER_VERSION>();
  info.kind = kind_of(device.getInfo<CL_DEVICE_TYPE>());
  info.pci = pci_of(device);
  info.compute_units = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  info.memory_bytes = static_cast<std::size_t>(device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>());
  info.largest_allocation = static_cast<std::size_t>(device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>());
  const Limits limits = limits_of(device);
  info.local_memory_bytes = limits.local_memory_bytes;
  const bool lanes = family_of(info.kind, limits) == Family::lanes;
  info.train_block = lanes ? 16 : spi::rows_a_block;
  info.query_block = lanes ? 8 : spi::rows_a_block;
  info.selectors = {Selector::threshold,  Selector::radix,     Selector::bubble,  Selector::insertion,
                    Selector::local_sort, Selector::k_min,     Selector::bitonic, Selector::odd_even,
                    Selector::rank_sort,  Selector::merge_sort};
  info.profile.lands_rows = !lanes;
  info.proposers = {Proposer::gemm, Proposer::dot};
  if (!lanes && limits.tensor_cores) info.proposers.push_back(Proposer::fp16);
  if (!lanes && multiplies_bytes(device, info.kind, limits)) {
    info.proposers.push_back(Proposer::int8);
    info.profile.byte_queries = std::numeric_limits<std::uint32_t>::max();
    if (limits.tensor_cores) info.proposers.push_back(Proposer::int4);
  }
  info.fused_max_k = lanes ? 0xFFFFFFFEu : 256;
  info.boxes_max_k = spi::boxes_max_k;
  return info;
}

/// Returns why kith cannot use a device; empty if it can. CL_FP_FMA is not required, because it only says
/// that fma() is fast. fma() must be exact in any case, which the self-test checks.
std::string refusal_of(const cl::Device& device) {
  const std::string version = device.getInfo<CL_DEVICE_VERSION>();  // `OpenCL 1.2 ...`
  int major = 0, minor = 0;
  if (std::sscanf(version.c_str(), "OpenCL %d.%d", &major, &minor) != 2 || major * 10 + minor < 12)
    return "it speaks " + version + ", and kith needs OpenCL 1.2; install a newer driver";
  const cl_device_fp_config single = device.getInfo<CL_DEVICE_SINGLE_FP_CONFIG>();
  if (!(single & CL_FP_DENORM))
    return "it flushes subnormal numbers (no CL_FP_DENORM), so its bits would differ; use another device";
  if (!device.getInfo<CL_DEVICE_COMPILER_AVAILABLE>())
    return "its driver has no compiler; install a complete driver";
  if (!device.getInfo<CL_DEVICE_AVAILABLE>()) return "its driver says it is not available; try again later";
  return "";
}

class OpenClBackend : public spi::Backend {
 public:
  spi::Found find() override {
    spi::Found found;
    try {
      const Platforms platforms = all_platforms();
      found.failures = platforms.failures;
      for (const std::string& useless : useless_drivers(platforms.count > 0))
        found.failures.push_back(useless);
      for (const cl::Device& device : platforms.devices)
        found.devices.push_back(listed(device, found.devices.size(), found.failures));
      if (found.devices.empty()) found.reason = reason(platforms.count, found.failures);
    } catch (const cl::Error& error) {
      found.devices.clear();
      found.reason =
          std::string("the OpenCL loader failed: ") + error.what() + " returned " + error_name(error.err());
    } catch (const std::exception& error) {
      found.devices.clear();
      found.reason = error.what();
    }
    return found;
  }

  std::unique_ptr<spi::Device> open(std::uint32_t ordinal) override {
    return Guard([] { return true; }).run("open", [&]() -> std::unique_ptr<spi::Device> {
      const std::vector<cl::Device> devices = all_platforms().devices;
      if (ordinal >= devices.size())
        throw Error(Errc::unavailable, "opencl: there is no device " + std::to_string(ordinal) + " of " +
                                           std::to_string(devices.size()) + "; `kith devices` lists them");
      return opened(devices[ordinal], ordinal, context_of(devices[ordinal]), cl::CommandQueue());
    });
  }

  std::unique_ptr<spi::Device> adopt(const spi::CallersDevice& callers) override {
    if (!callers.context || !callers.device)
      throw Error(Errc::invalid_argument,
                  "opencl: the context or the device is null; give those that the memory was made with");
    constexpr bool retain = true;  // the caller's reference counts do not change
    return Guard([] { return true; }).run("adopt", [&] {
      const cl::Context context(static_cast<cl_context>(callers.context), retain);
      const cl::Device device(static_cast<cl_device_id>(callers.device), retain);
      const cl::CommandQueue queue =
          callers.queue ? cl::CommandQueue(static_cast<cl_command_queue>(callers.queue), retain)
                        : cl::CommandQueue();
      return opened(device, ordinal_of(device, context, queue), std::make_shared<SharedContext>(context),
                    queue);
    });
  }

 private:
  static std::unique_ptr<spi::Device> opened(const cl::Device& device, std::size_t ordinal,
                                             std::shared_ptr<SharedContext> context, cl::CommandQueue queue) {
    DeviceInfo info = info_of(device, ordinal);
    const std::string refusal = refusal_of(device);
    if (!refusal.empty())
      throw Error(Errc::unavailable, info.spec + " (" + info.name + ") cannot be used: " + refusal);
    const Limits limits = limits_of(device);
    const Family family = family_of(info.kind, limits);
    return std::make_unique<Device>(std::move(info), family, limits, device, std::move(context),
                                    std::move(queue));
  }

  /// Returns the number of a caller's device among all devices.
  static std::size_t ordinal_of(const cl::Device& device, const cl::Context& context,
                                const cl::CommandQueue& queue) {
    const auto refuse = [&](const std::string& why) -> Error {
      return {Errc::unsupported, "opencl: the caller's " + why};
    };
    const std::vector<cl::Device> of_context = context.getInfo<CL_CONTEXT_DEVICES>();
    const auto is_it = [&](const cl::Device& other) { return other() == device(); };
    if (std::none_of(of_context.begin(), of_context.end(), is_it))
      throw refuse("device " + device.getInfo<CL_DEVICE_NAME>() +
                   " is none of the caller's context; give a device of that context");
    if (queue() && queue.getInfo<CL_QUEUE_CONTEXT>()() != context())
      throw refuse("queue is of another context; give a queue of that context, or none");
    const std::vector<cl::Device> devices = all_platforms().devices;
    const auto found = std::find_if(devices.begin(), devices.end(), is_it);
    if (found == devices.end())
      throw refuse("device " + device.getInfo<CL_DEVICE_NAME>() +
                   " is a part of one, or listed by no platform; give a whole device");
    return static_cast<std::size_t>(found - devices.begin());
  }

  /// Returns the properties of a device. A device that does not answer keeps its number, and is refused when
  /// it is opened.
  static DeviceInfo listed(const cl::Device& device, std::size_t ordinal,
                           std::vector<std::string>& failures) {
    try {
      return info_of(device, ordinal);
    } catch (const cl::Error& error) {
      DeviceInfo info;
      info.spec = "opencl:" + std::to_string(ordinal);
      info.backend = "opencl";
      info.name = "a device that does not answer";
      failures.push_back(info.spec + ": " + error.what() + " returned " + error_name(error.err()) +
                         "; install its driver again, or use another device");
      return info;
    }
  }

  static std::string reason(std::size_t platforms, const std::vector<std::string>& failures) {
    std::string all;
    for (const std::string& failure : failures) all += (all.empty() ? "" : "; ") + failure;
    if (!all.empty()) return "no OpenCL device: " + all;
    return platforms == 0 ? "no OpenCL platform: no driver (ICD) is installed"
                          : "no OpenCL device: " + std::to_string(platforms) +
                                " platform(s) are installed, but none has a device";
  }
};

}  // namespace
}  // namespace kith::opencl

extern "C" KITH_API const kith::spi::Plugin* kith_plugin();

extern "C" KITH_API const kith::spi::Plugin* kith_plugin() {
  static const kith::spi::Plugin plugin{kith::spi::plugin_abi, "opencl",
                                        []() -> std::unique_ptr<kith::spi::Backend> {
                                          return std::make_unique<kith::opencl::OpenClBackend>();
                                        }};
  return &plugin;
}
