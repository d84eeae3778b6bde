#include "cpu/backend.hpp"

#include <fstream>
#include <new>
#include <string>

#include "cpu/device.hpp"
#include "cpu/steps/steps.hpp"
#include "host/host_memory.hpp"
#include "host/host_threads.hpp"
#include "kith/error.hpp"

namespace kith::cpu {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  file.exceptions(std::ios::badbit);  // otherwise getline() would hide that memory has run out
  try {
    for (std::string line; std::getline(file, line);) {
      const std::size_t colon = line.find(": ");
      if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
  } catch (const std::ios::failure&) {  // a file that cannot be read is treated like a missing one
  }
#if defined(__x86_64__)
  return "x86-64 processor";
#elif defined(__aarch64__)
  return "AArch64 processor";
#else
  return "processor";
#endif
}

class CpuBackend final : public spi::Backend {
 public:
  spi::Found find() override {
    try {
      return {{describe(choose_instruction_set())}, {}, {}};
    } catch (const Error& error) {
      return {{}, error.what(), {}};
    }
  }

  std::unique_ptr<spi::Device> open(std::uint32_t ordinal) override {
    if (ordinal != 0)
      throw Error(Errc::unavailable,
                  "cpu: there is no device " + std::to_string(ordinal) + "; the whole machine is device 0");
    const InstructionSet set = choose_instruction_set();
    return std::make_unique<CpuDevice>(describe(set), set);
  }

 private:
  static DeviceInfo describe(const InstructionSet& set) {
    DeviceInfo info;
    info.spec = info.backend = "cpu";
    info.name = processor_name();
    info.platform = "host threads";
    info.driver = set.name;
    info.kind = DeviceKind::cpu;
    info.compute_units = usable_cores();
    info.memory_bytes = info.largest_allocation = host_memory().bytes;
    info.train_block = train_block;
    info.query_block = query_block;
    info.profile.host_threads = true;
    info.profile.vector_floats = set.vector_floats;
    info.selectors = selectors();
    info.proposers = set.proposers;
    info.fused_max_k = 0xFFFFFFFFu;
    info.boxes_max_k = 0xFFFFFFFFu;
    return info;
  }
};

}  // namespace

std::unique_ptr<spi::Backend> create_backend() {
  return std::make_unique<CpuBackend>();
}

}  // namespace kith::cpu
