#include "voting.hpp"

#include "float_guard.hpp"
#include "kith/error.hpp"
#include "kith/trace.hpp"
#include "timing.hpp"

namespace kith {

DeviceMemory upload_labels(const std::shared_ptr<Device::State>& state,
                           std::span<const std::uint32_t> classes) {
  DeviceMemory memory(state, classes.size_bytes());
  const std::lock_guard lock(state->mutex);
  const FloatGuard guard;
  if (!classes.empty()) state->device->write(*memory.get(), 0, classes.data(), classes.size_bytes());
  return memory;
}

Voting::Voting(const std::shared_ptr<Device::State>& state, std::int64_t queries, std::uint32_t classes)
    : state_(state),
      classes_(classes),
      counts_(state, static_cast<std::size_t>(queries) * classes * sizeof(std::uint32_t)),
      winner_(state, static_cast<std::size_t>(queries) * sizeof(std::uint32_t)) {}

void Voting::vote(const spi::Grid<Key>& nearest, const spi::Grid<std::uint32_t>& labels,
                  std::uint32_t threads, std::span<std::uint32_t> winner, std::span<std::uint32_t> counts,
                  double* seconds) {
  const std::size_t q = nearest.rows;
  const spi::Step step{
      spi::VoteStep{
          nearest, labels, classes_, {counts_.get(), 0, q, classes_, classes_}, {winner_.get(), 0, q, 1, 1}},
      threads};
  const std::lock_guard lock(state_->mutex);
  const FloatGuard guard;
  spi::Device& device = *state_->device;
  const spi::Support support = device.check(step);
  if (!support.refusal.empty())
    throw Error(Errc::unsupported, "vote: " + device.info.spec + ": " + support.refusal);
  const std::uint64_t begin = seconds ? device.mark() : 0;
  device.enqueue(step);
  if (seconds) {
    const std::uint64_t end = device.mark();
    device.finish();
    *seconds += device.elapsed(begin, end);
  }
  device.read(*winner_.get(), 0, winner.data(), q * sizeof(std::uint32_t));
  device.read(*counts_.get(), 0, counts.data(), q * classes_ * sizeof(std::uint32_t));
}

}  // namespace kith
