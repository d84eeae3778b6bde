#include "cpu/device.hpp"

#include <chrono>
#include <cstring>

#include "cpu/memory.hpp"
#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"
#include "kith/spi/refusals.hpp"

namespace kith::cpu {
namespace {

class HostCopies final : public spi::CopyQueue {
 public:
  void write(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override {
    if (bytes) std::memcpy(bytes_of(to) + offset, from, bytes);
  }
};

}  // namespace

std::unique_ptr<spi::CopyQueue> CpuDevice::copy_queue() {
  return std::make_unique<HostCopies>();
}

std::unique_ptr<spi::Allocation> CpuDevice::allocate(std::size_t bytes) {
  return std::make_unique<Memory>(bytes, info.memory_bytes);
}

void CpuDevice::write(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) {
  if (bytes) std::memcpy(bytes_of(to) + offset, from, bytes);
}

void CpuDevice::read(const spi::Allocation& from, std::size_t offset, void* to, std::size_t bytes) {
  if (bytes) std::memcpy(to, bytes_of(from) + offset, bytes);
}

std::unique_ptr<spi::Allocation> CpuDevice::borrow(const spi::CallersMemory& of) {
  if (of.where != Where::host) return spi::Device::borrow(of);
  return std::make_unique<Memory>(of);
}

std::uint64_t CpuDevice::mark() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

double CpuDevice::elapsed(std::uint64_t from, std::uint64_t to) {
  return static_cast<double>(to - from) * 1e-9;
}

spi::Support CpuDevice::check(const spi::Step& step) const {
  std::string refusal = spi::refusal_of(step);
  if (!refusal.empty()) return {std::move(refusal), 0};
  const Resources with{set_, team_size(step.threads)};
  return std::visit([&](const auto& work) { return cpu::check(work, with); }, step.work);
}

void CpuDevice::enqueue(const spi::Step& step) {
  const Resources with{set_, team_size(step.threads)};
  std::visit([&](const auto& work) { run(work, with); }, step.work);
}

}  // namespace kith::cpu
