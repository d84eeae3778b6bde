#include "lab/placement/placed_search.hpp"

#include <algorithm>
#include <cstring>

#include "workloads/clock.hpp"

namespace kith::experiments {
namespace {

using workloads::Clock;

void carry(Copy& copy, PlacedRun& result) {
  const Clock clock;
  if (copy.from && copy.bytes) copy.from->read(*copy.source, 0, copy.staging->data(), copy.bytes);
  if (copy.to && copy.bytes) {
    copy.to->write(*copy.target, 0, copy.staging->data(), copy.bytes);
    copy.to->finish();
  }
  const auto spec = [](const spi::Device* device) { return device ? device->info.spec : "host"; };
  result.steps.push_back(
      {copy.what, spec(copy.from), spec(copy.to), copy.bytes, not_measured, clock.seconds()});
}

}  // namespace

Staging::Staging(spi::Device* from, spi::Device* to, std::size_t bytes, bool locked) {
  for (spi::Device* device : {from, to})
    if (locked && device && !locked_) locked_ = device->allocate_host(std::max<std::size_t>(bytes, 1));
  if (!locked_) pageable_.resize(bytes);
  if (bytes > 0) std::memset(data(), 0, bytes);  // touches every page, which else the first copy would do
}

PlacedSearch::PlacedSearch(const Placement& placement, const std::vector<spi::Device*>& devices,
                           const PlacedProblem& problem)
    : problem_(problem) {
  const Operands operands = operands_of(problem);
  seats_.reserve(placement.size());
  for (std::size_t s = 0; s < placement.size(); ++s) {
    const Operation operation = operation_of(problem, placement[s].stage);
    const Seat* const previous = s > 0 ? &seats_.back() : nullptr;
    Seat& seat = seats_.emplace_back(
        Seat{operation.stage, title(operation), placement[s].device.info().spec, devices[s], {}, {}});
    seat.prepared = std::make_unique<workloads::PreparedStage>(
        *seat.device, operation, operands, [&](const char* what, const void* from, std::size_t bytes) {
          return place(seat, previous, what, from, bytes);
        });
    if (!seat.prepared->refusal().empty()) {
      refusal_ = seat.what + ": " + seat.spec + ": " + seat.prepared->refusal();
      return;
    }
  }
  for (std::size_t part = 0; part < seats_.back().prepared->parts().size(); ++part)
    answer_.push_back(leave("answer", seats_.back(), part, nullptr, nullptr));
  for (Seat& seat : seats_) seat.device->finish();
}

PlacedRun PlacedSearch::run() {
  PlacedRun result;
  const Clock clock;
  for (Seat& seat : seats_) {
    for (Copy& copy : seat.before) carry(copy, result);
    const auto seconds = seat.prepared->run();
    result.steps.push_back({seat.what, seat.spec, seat.spec, 0, seconds.device, seconds.host});
  }
  for (Copy& copy : answer_) carry(copy, result);
  result.total = clock.seconds();
  return result;
}

PlacedAnswer PlacedSearch::answer() const {
  PlacedAnswer answer;
  for (const Seat& seat : seats_)
    if (seat.stage != Stage::distance)
      (seat.stage == Stage::vote ? answer.votes : answer.keys) =
          seat.prepared->result(0, problem_.queries.rows());
  return answer;
}

/// Finds memory for what a stage reads. That is the output of the stage before it, on the same device or
/// copied, or data that every run copies from the host.
spi::Allocation* PlacedSearch::place(Seat& seat, const Seat* previous, const char* what, const void* from,
                                     std::size_t bytes) {
  if (!from && previous->device == seat.device) return previous->prepared->parts()[0].memory;
  const std::size_t room = std::max<std::size_t>(bytes, 1);
  spi::Allocation* const target = seat.memory.emplace_back(seat.device->allocate(room)).get();
  if (!from) {
    seat.before.push_back(leave(what, *previous, 0, seat.device, target));
    return target;
  }
  Copy copy{what, nullptr, nullptr, seat.device, target, bytes};
  copy.staging = std::make_unique<Staging>(seat.device, nullptr, bytes, problem_.locked);
  if (bytes > 0) std::memcpy(copy.staging->data(), from, bytes);
  seat.before.push_back(std::move(copy));
  return target;
}

Copy PlacedSearch::leave(const char* what, const Seat& from, std::size_t part, spi::Device* to,
                         spi::Allocation* target) {
  const workloads::PreparedStage::Part& wrote = from.prepared->parts()[part];
  const std::size_t bytes = static_cast<std::size_t>(problem_.queries.rows()) * wrote.cols * wrote.cell_bytes;
  Copy copy{what, from.device, wrote.memory, to, target, bytes};
  copy.staging = std::make_unique<Staging>(from.device, to, bytes, problem_.locked);
  return copy;
}

}  // namespace kith::experiments
