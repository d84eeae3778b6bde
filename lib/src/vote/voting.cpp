#include "vote/voting.hpp"

#include "device/timing.hpp"
#include "kith/error.hpp"

namespace kith {
namespace {

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
  const spi::Step step{
      spi::VoteStep{
          nearest, labels, classes_, {counts_.get(), 0, q, classes_, classes_}, {winner_.get(), 0, q, 1, 1}},
      threads};
  const DeviceSession session(*state_);
  const spi::Support support = session->check(step);
  if (!support.refusal.empty())
    throw Error(Errc::unsupported, "vote: " + session->info.spec + ": " + support.refusal);
  const std::uint64_t begin = seconds ? session->mark() : 0;
  session->enqueue(step);
  if (seconds) {
    const std::uint64_t end = session->mark();
    session->finish();
    *seconds += session->elapsed(begin, end);
  }
  session->read(*winner_.get(), 0, winner.data(), q * sizeof(std::uint32_t));
  if (!counts.empty()) session->read(*counts_.get(), 0, counts.data(), q * classes_ * sizeof(std::uint32_t));
}

}  // namespace kith
