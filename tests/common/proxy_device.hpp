// Declares a device that forwards every call to another one. A test overrides the calls that it observes or
// lets fail.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "device/device_state.hpp"

namespace kith::tests {

class ProxyDevice : public spi::Device {
 public:
  explicit ProxyDevice(std::unique_ptr<spi::Device> real) : spi::Device(real->info), real_(std::move(real)) {}

  std::unique_ptr<spi::Allocation> allocate(std::size_t bytes) override { return real_->allocate(bytes); }
  void write(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override {
    real_->write(to, offset, from, bytes);
  }
  void read(const spi::Allocation& from, std::size_t offset, void* to, std::size_t bytes) override {
    real_->read(from, offset, to, bytes);
  }
  void finish() override { real_->finish(); }
  std::unique_ptr<spi::HostMemory> allocate_host(std::size_t bytes) override {
    return real_->allocate_host(bytes);
  }
  std::unique_ptr<spi::CopyQueue> copy_queue() override { return real_->copy_queue(); }
  bool is_locked(const void* begin, std::size_t bytes) const override {
    return real_->is_locked(begin, bytes);
  }
  std::unique_ptr<spi::Allocation> borrow(const spi::CallersMemory& of) override { return real_->borrow(of); }
  std::uint64_t mark() override { return real_->mark(); }
  double elapsed(std::uint64_t from, std::uint64_t to) override { return real_->elapsed(from, to); }
  void hold() override { real_->hold(); }
  void let_go() override { real_->let_go(); }
  spi::Support check(const spi::Step& step) const override { return real_->check(step); }
  void enqueue(const spi::Step& step) override { real_->enqueue(step); }

 private:
  const std::unique_ptr<spi::Device> real_;
};

/// Opens a device and puts a `Proxy` made of it and `more` in front. Its selectors count as tested, so that a
/// faulty proxy shows in searches and not in the self-test.
template <class Proxy, class... More>
Device device_behind(std::string_view spec, More&&... more) {
  const Device device = open_device(spec);
  const std::shared_ptr<Device::State>& state = device.state();
  for (const Selector selector : device.info().selectors) state->selector_refusals.emplace(selector, "");
  state->device = std::make_unique<Proxy>(std::move(state->device), std::forward<More>(more)...);
  return device;
}

template <class Proxy, class... More>
Device cpu_behind(More&&... more) {
  return device_behind<Proxy>("cpu", std::forward<More>(more)...);
}

}  // namespace kith::tests
