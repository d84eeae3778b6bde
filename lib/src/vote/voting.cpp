#include "vote/voting.hpp"

#include "device/timing.hpp"
#include "kith/error.hpp"
#include "kith/trace.hpp"

namespace kith {
namespace {

/// Run a step, under the lock, and add its device seconds where somebody asks.
template <class Work>
void run_timed(spi::Device& device, const Work& work, std::uint32_t threads, double* seconds) {
  const spi::Step step{work, threads};
  const spi::Support support = device.check(step);
  if (!support.refusal.empty())
    throw Error(Errc::unsupported,
                std::string(Work::name) + ": " + device.info.spec + ": " + support.refusal);
  const std::uint64_t begin = seconds ? device.mark() : 0;
  device.enqueue(step);
  if (!seconds) return;
  const std::uint64_t end = device.mark();
  device.finish();
  *seconds += device.elapsed(begin, end);
}

std::size_t bytes_of(std::int64_t rows, std::int64_t cols) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) * sizeof(std::uint32_t);
}

}  // namespace

DeviceMemory upload_labels(const std::shared_ptr<Device::State>& state,
                           std::span<const std::uint32_t> classes) {
  DeviceMemory memory(state, classes.size_bytes());
  const DeviceSession session(*state);
  if (!classes.empty()) session->write(*memory.get(), 0, classes.data(), classes.size_bytes());
  return memory;
}

Voting::Voting(const std::shared_ptr<Device::State>& state, std::int64_t queries, std::uint32_t classes)
    : state_(state),
      classes_(classes),
      counts_(state, bytes_of(queries, classes)),
      winner_(state, bytes_of(queries, 1)) {}

void Voting::vote(const spi::Grid<Key>& nearest, const spi::Grid<std::uint32_t>& labels,
                  std::uint32_t threads, std::span<std::uint32_t> winner, std::span<std::uint32_t> counts,
                  double* seconds) {
  const std::size_t q = nearest.rows;
  const DeviceSession session(*state_);
  spi::Device& device = *session;
  run_timed(
      device,
      spi::VoteStep{
          nearest, labels, classes_, {counts_.get(), 0, q, classes_, classes_}, {winner_.get(), 0, q, 1, 1}},
      threads, seconds);
  device.read(*winner_.get(), 0, winner.data(), q * sizeof(std::uint32_t));
  device.read(*counts_.get(), 0, counts.data(), q * classes_ * sizeof(std::uint32_t));
}

Tallying::Tallying(const std::shared_ptr<Device::State>& state, std::int64_t queries, std::int64_t k,
                   std::uint32_t classes)
    : state_(state),
      k_(static_cast<std::size_t>(k)),
      weights_(state, bytes_of(queries, k)),
      sums_(state, bytes_of(queries, classes)) {}

void Tallying::weigh(std::span<const float> weights) {
  const DeviceSession session(*state_);
  session->write(*weights_.get(), 0, weights.data(), weights.size_bytes());
}

void Tallying::tally(const spi::Grid<Key>& nearest, const spi::Grid<std::uint32_t>& labels,
                     std::uint32_t classes, std::uint32_t threads, std::span<float> sums, double* seconds) {
  const std::size_t q = nearest.rows;
  const DeviceSession session(*state_);
  spi::Device& device = *session;
  run_timed(device,
            spi::TallyStep{nearest,
                           {weights_.get(), 0, q, nearest.cols, k_},
                           labels,
                           classes,
                           {sums_.get(), 0, q, classes, classes}},
            threads, seconds);
  device.read(*sums_.get(), 0, sums.data(), q * classes * sizeof(float));
}

}  // namespace kith
