#include "lab/placement/placed_search.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace kith::experiments {
namespace {

using workloads::Stage;
using workloads::StageResult;
using Clock = std::chrono::steady_clock;

std::size_t size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}
std::uint32_t count32(std::int64_t value) {
  return static_cast<std::uint32_t>(value);
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

spi::Allocation* allocate(Seat& seat, std::size_t bytes) {
  return seat.memory.emplace_back(seat.device->allocate(std::max<std::size_t>(bytes, 1))).get();
}

void carry(Copy& copy, PlacedRun& result) {
  const auto start = Clock::now();
  if (copy.from && copy.bytes) copy.from->read(*copy.source, 0, copy.staging->data(), copy.bytes);
  if (copy.to && copy.bytes) {
    copy.to->write(*copy.target, 0, copy.staging->data(), copy.bytes);
    copy.to->finish();
  }
  const auto spec = [](const spi::Device* device) { return device ? device->info.spec : "host"; };
  result.steps.push_back(
      {copy.what, spec(copy.from), spec(copy.to), copy.bytes, not_measured, seconds_since(start)});
}

template <class T>
std::vector<std::uint64_t> read(const Seat& seat, std::size_t i) {
  std::vector<T> values(seat.out_bytes[i] / sizeof(T));
  if (!values.empty()) seat.device->read(*seat.out[i], 0, values.data(), seat.out_bytes[i]);
  return {values.begin(), values.end()};
}

}  // namespace

Staging::Staging(spi::Device* from, spi::Device* to, std::size_t bytes, bool locked) {
  for (spi::Device* device : {from, to})
    if (locked && device && !locked_) locked_ = device->allocate_host(std::max<std::size_t>(bytes, 1));
  if (!locked_) pageable_.resize(bytes);
  if (bytes > 0)
    std::memset(data(), 0, bytes);  // a page that was never touched is paid for by the first copy
}

PlacedSearch::PlacedSearch(const Placement& placement, const std::vector<spi::Device*>& devices,
                           const PlacedProblem& problem)
    : problem_(problem), m_(size(problem.queries.rows())), n_(size(problem.train.rows())) {
  for (std::size_t s = 0; s < placement.size() && refusal_.empty(); ++s) {
    Seat& seat = seats_.emplace_back();
    seat.device = devices[s];
    seat.spec = placement[s].device.info().spec;
    make(placement[s].stage, seat, s > 0 ? &seats_[s - 1] : nullptr);
  }
  if (!refusal_.empty()) return;
  const Seat& last = seats_.back();
  for (std::size_t i = 0; i < 2; ++i)
    if (last.out[i]) answer_.push_back(leave("answer", last, i, nullptr, nullptr));
  for (Seat& seat : seats_) seat.device->finish();
}

PlacedRun PlacedSearch::run() {
  PlacedRun result;
  const auto start = Clock::now();
  for (Seat& seat : seats_) {
    for (Copy& copy : seat.before) carry(copy, result);
    const auto began = Clock::now();
    const std::uint64_t before = seat.device->mark();
    seat.device->enqueue(seat.step);
    const std::uint64_t after = seat.device->mark();
    seat.device->finish();
    const double host = seconds_since(began);
    result.steps.push_back({seat.what, seat.spec, seat.spec, 0, seat.device->elapsed(before, after), host});
  }
  for (Copy& copy : answer_) carry(copy, result);
  result.total = seconds_since(start);
  return result;
}

PlacedAnswer PlacedSearch::answer() const {
  PlacedAnswer answer;
  for (const Seat& seat : seats_) {
    if (std::holds_alternative<spi::DistanceStep>(seat.step.work)) continue;
    if (std::holds_alternative<spi::VoteStep>(seat.step.work)) {
      answer.votes = read_votes(seat);
    } else {
      answer.keys = {
          StageResult::Content::keys,
          static_cast<std::int64_t>(seat.out_bytes[0] / sizeof(Key) / std::max(m_, std::size_t{1})),
          read<Key>(seat, 0)};
    }
  }
  return answer;
}

void PlacedSearch::make(Stage stage, Seat& seat, const Seat* previous) {
  seat.what = std::string(workloads::name(stage));
  const std::size_t k = size(problem_.k), width = size(problem_.groups) * k;
  switch (stage) {
    case Stage::distance: {
      const spi::RowBlocks queries =
          send_rows("queries", seat, problem_.queries, seat.device->info.query_block);
      const spi::RowBlocks train =
          send_rows("training rows", seat, problem_.train, seat.device->info.train_block);
      set(seat,
          spi::DistanceStep{
              problem_.metric, queries, train, {output(seat, 0, m_ * n_ * sizeof(float)), 0, m_, n_, n_}});
      return;
    }
    case Stage::select:
      seat.what += " " + std::string(name(problem_.selector));
      set(seat, spi::SelectStep{problem_.selector,
                                {input("distances", seat, previous), 0, m_, n_, n_},
                                0,
                                count32(problem_.k),
                                count32(problem_.groups),
                                {output(seat, 0, m_ * width * sizeof(Key)), 0, m_, width, width},
                                {}});
      return;
    case Stage::merge:
      set(seat, spi::MergeStep{count32(problem_.groups),
                               count32(problem_.k),
                               {input("lists", seat, previous), 0, m_, width, width},
                               {output(seat, 0, m_ * k * sizeof(Key)), 0, m_, k, k},
                               {}});
      return;
    case Stage::vote:
    default:
      make_vote(seat, previous);
      return;
  }
}

void PlacedSearch::make_vote(Seat& seat, const Seat* previous) {
  const std::size_t k = size(problem_.k), classes = size(problem_.classes);
  spi::Allocation* labels = send("labels", seat, problem_.labels.data(), n_ * sizeof(std::uint32_t));
  spi::Allocation* nearest = input("nearest", seat, previous);
  set(seat, spi::VoteStep{{nearest, 0, m_, k, k},
                          {labels, 0, 1, n_, n_},
                          count32(problem_.classes),
                          {output(seat, 1, m_ * classes * sizeof(std::uint32_t)), 0, m_, classes, classes},
                          {output(seat, 0, m_ * sizeof(std::uint32_t)), 0, m_, 1, 1},
                          problem_.vote});
}

// Results begin as nonsense, at least the first MiB: memory that was used before may hold what is right.
spi::Allocation* PlacedSearch::output(Seat& seat, std::size_t i, std::size_t bytes) {
  seat.out_bytes[i] = bytes;
  seat.out[i] = allocate(seat, bytes);
  const std::vector<unsigned char> nonsense(std::min(bytes, std::size_t{1} << 20), 0xA5);
  if (!nonsense.empty()) seat.device->write(*seat.out[i], 0, nonsense.data(), nonsense.size());
  return seat.out[i];
}

/// From the host to the stage's device, in every run.
spi::Allocation* PlacedSearch::send(const char* what, Seat& seat, const void* from, std::size_t bytes) {
  Copy copy{what, nullptr, nullptr, seat.device, allocate(seat, bytes), bytes, nullptr};
  copy.staging = std::make_unique<Staging>(seat.device, nullptr, bytes, problem_.locked);
  if (bytes > 0) std::memcpy(copy.staging->data(), from, bytes);
  return seat.before.emplace_back(std::move(copy)).target;
}

spi::RowBlocks PlacedSearch::send_rows(const char* what, Seat& seat, MatrixView<const float> rows,
                                       std::uint32_t block) {
  const std::vector<float> packed = workloads::pack_rows(rows, block);
  return {send(what, seat, packed.data(), packed.size() * sizeof(float)), 0, count32(rows.rows()),
          count32(rows.cols()), block};
}

Copy PlacedSearch::leave(const char* what, const Seat& from, std::size_t i, spi::Device* to,
                         spi::Allocation* target) {
  Copy copy{what, from.device, from.out[i], to, target, from.out_bytes[i], nullptr};
  copy.staging = std::make_unique<Staging>(from.device, to, copy.bytes, problem_.locked);
  return copy;
}

/// What the stage before wrote: its own memory on the same device, else a copy.
spi::Allocation* PlacedSearch::input(const char* what, Seat& seat, const Seat* previous) {
  if (previous->device == seat.device) return previous->out[0];
  spi::Allocation* target = allocate(seat, previous->out_bytes[0]);
  seat.before.push_back(leave(what, *previous, 0, seat.device, target));
  return target;
}

void PlacedSearch::set(Seat& seat, spi::Work work) {
  seat.step = {std::move(work), problem_.threads};
  const spi::Support support = seat.device->check(seat.step);
  if (!support.refusal.empty()) refusal_ = seat.what + ": " + seat.spec + ": " + support.refusal;
  if (!refusal_.empty() || support.scratch_bytes == 0) return;
  const spi::Scratch scratch{allocate(seat, support.scratch_bytes), support.scratch_bytes};
  std::visit(
      [&](auto& step) {
        if constexpr (requires { step.scratch; }) step.scratch = scratch;
      },
      seat.step.work);
}

StageResult PlacedSearch::read_votes(const Seat& seat) const {
  const std::vector<std::uint64_t> winner = read<std::uint32_t>(seat, 0),
                                   counts = read<std::uint32_t>(seat, 1);
  StageResult votes{StageResult::Content::counts, 1 + problem_.classes, {}};
  for (std::size_t q = 0; q < m_; ++q) {
    const auto row = counts.begin() + static_cast<std::ptrdiff_t>(q) * problem_.classes;
    votes.cells.push_back(winner[q]);
    votes.cells.insert(votes.cells.end(), row, row + problem_.classes);
  }
  return votes;
}

}  // namespace kith::experiments
