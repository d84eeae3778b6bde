// The processor that this program runs on, as a device.
#pragma once

#include <memory>
#include <utility>

#include "cpu/isa/instruction_set.hpp"
#include "kith/spi.hpp"

namespace kith::cpu {

/// enqueue() returns when the step is complete.
class CpuDevice final : public spi::Device {
 public:
  CpuDevice(DeviceInfo known, InstructionSet set) : spi::Device(std::move(known)), set_(std::move(set)) {}

  std::unique_ptr<spi::Allocation> allocate(std::size_t bytes) override;
  void write(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override;
  void read(const spi::Allocation& from, std::size_t offset, void* to, std::size_t bytes) override;
  void finish() override {}
  std::unique_ptr<spi::CopyQueue> copy_queue() override;
  /// Memory of the host is the device's own memory.
  std::unique_ptr<spi::Allocation> borrow(const spi::CallersMemory& of) override;
  std::uint64_t mark() override;
  double elapsed(std::uint64_t from, std::uint64_t to) override;
  spi::Support check(const spi::Step& step) const override;
  void enqueue(const spi::Step& step) override;

 private:
  InstructionSet set_;
};

}  // namespace kith::cpu
