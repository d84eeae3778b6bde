// Does each step as directly as the contract can be written down. Every other device is compared with this
// one; only the tests have another oracle.
#include <cstring>
#include <limits>

#include "check/plain/plain_memory.hpp"
#include "check/plain/plain_steps.hpp"
#include "kith/spi/refusals.hpp"
#include "kith/spi/step_runner.hpp"

namespace kith::spi {
namespace {

DeviceInfo plain_info() {
  DeviceInfo info;
  info.spec = info.backend = info.name = "plain";
  info.selectors = all_selectors();
  info.fused_max_k = info.boxes_max_k = std::numeric_limits<std::uint32_t>::max();
  return info;
}

struct PlainDevice : Device {
  PlainDevice() : Device(plain_info()) {}
  std::unique_ptr<Allocation> allocate(std::size_t bytes) override {
    return std::make_unique<PlainMemory>(bytes);
  }
  void write(Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override {
    std::memcpy(reinterpret_cast<char*>(static_cast<PlainMemory&>(to).data.data()) + offset, from, bytes);
  }
  void read(const Allocation& from, std::size_t offset, void* to, std::size_t bytes) override {
    std::memcpy(to, reinterpret_cast<const char*>(static_cast<const PlainMemory&>(from).data.data()) + offset,
                bytes);
  }
  void finish() override {}
  std::uint64_t mark() override { return 0; }
  double elapsed(std::uint64_t, std::uint64_t) override { return 0; }
  Support check(const Step& step) const override {
    const auto* const collect = std::get_if<CollectStep>(&step.work);
    const auto* const tighten = std::get_if<TightenStep>(&step.work);
    const bool proposed =
        std::holds_alternative<PrepareStep>(step.work) || std::holds_alternative<RecoverStep>(step.work) ||
        std::holds_alternative<PruneStep>(step.work) ||
        std::holds_alternative<TightenByBoundsStep>(step.work) ||
        std::holds_alternative<TightenBySampleStep>(step.work) ||
        (collect && collect->proposer != Proposer::none) ||
        (tighten && (tighten->proposer != Proposer::none || tighten->guessed || tighten->afresh));
    return {proposed ? "any bound will do, so there is no one right answer" : refusal_of(step), 0};
  }
  void enqueue(const Step& step) override {
    std::visit([](const auto& work) { plain(work); }, step.work);
  }
};

}  // namespace

std::unique_ptr<Device> plain_device() {
  return std::make_unique<PlainDevice>();
}

}  // namespace kith::spi
