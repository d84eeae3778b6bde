#include "search/device_answers.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "device/timing.hpp"
#include "kith/error.hpp"
#include "metric/chain.hpp"
#include "rows/landed/borrowed.hpp"
#include "search/lists/shard_lists.hpp"

namespace kith {
namespace {

[[noreturn]] void refuse_answers(Errc code, const std::string& why) {
  throw Error(code, "search_into: " + why);
}

/// Checks that the first element is aligned, counted from the beginning of the memory or, for CUDA, by
/// its address.
void check_alignment(const char* what, const DeviceNeighbors& to, const void* memory, std::int64_t offset,
                     std::int64_t element_bytes) {
  const std::uintptr_t address = to.where == Where::cuda ? reinterpret_cast<std::uintptr_t>(memory) : 0;
  if (!memory)
    refuse_answers(Errc::invalid_argument,
                   std::string(what) + " has no address (a null pointer); give that of the first element");
  if (offset < 0)
    refuse_answers(Errc::invalid_argument, std::string(what) + " begins " + std::to_string(offset) +
                                               " bytes behind its memory; give 0 or more");
  if ((address + static_cast<std::uintptr_t>(offset)) % static_cast<std::uintptr_t>(element_bytes) != 0)
    refuse_answers(Errc::invalid_argument, std::string(what) + " begins at no multiple of " +
                                               std::to_string(element_bytes) +
                                               " bytes; align it to its elements");
}

}  // namespace

BorrowedAnswers::BorrowedAnswers(const Index::State& index, const DeviceNeighbors& to, std::int64_t cells,
                                 std::int64_t k)
    : index_(index), state_(index.device.state()), to_(to), k_(size(k)) {
  if (to.where == Where::host)
    refuse_answers(Errc::unsupported,
                   "answers are to go to memory of the host, which is given as Neighbors; give these, or "
                   "memory of the device");
  const Element element = index.arithmetic == Arithmetic::f64 ? Element::f64 : Element::f32;
  if (to.element != element)
    refuse_answers(Errc::invalid_argument, "distances of the index are " + std::string(name(element)) +
                                               ", and the memory is for " + std::string(name(to.element)) +
                                               "; give memory of that element");
  const std::int64_t distance_bytes = element_bytes(element);
  constexpr std::int64_t row_bytes = sizeof(std::int64_t);
  check_alignment("distance", to, to.distance, to.distance_offset_bytes, distance_bytes);
  check_alignment("row", to, to.row, to.row_offset_bytes, row_bytes);
  distance_ = borrowed(*state_, "search_into: the distances",
                       {to.where, to.distance, size(to.distance_offset_bytes) + size(cells * distance_bytes),
                        true, to.stream_or_queue});
  rows_ = borrowed(*state_, "search_into: the row numbers",
                   {to.where, to.row, size(to.row_offset_bytes) + size(cells) * sizeof(std::int64_t), true,
                    to.stream_or_queue});
}

BorrowedAnswers::~BorrowedAnswers() {
  give_memory_back(*state_);
}

/// Returns the step that turns keys into answers. Copies the tables that it needs for row numbers to
/// the device.
spi::FinishStep BorrowedAnswers::finish_step(const KeysOnDevice& found) {
  const std::size_t begin = size(found.first) * k_, q = found.keys.rows;
  spi::FinishStep step{finish_metric(index_.metric),
                       found.keys,
                       {distance_.get(), size(to_.distance_offset_bytes) / sizeof(float) + begin, q, k_, k_},
                       {rows_.get(), size(to_.row_offset_bytes) / sizeof(std::int64_t) + begin, q, k_, k_}};
  if (!found.places.empty()) {
    if (!places_)
      places_ = uploaded(state_, std::vector<std::uint32_t>(found.places.begin(), found.places.end()));
    step.places = {places_.get(), 0, 1, found.places.size(), found.places.size()};
  }
  if (const auto numbers = index_.numbers.by_place()) {
    if (!numbers_) numbers_ = index_.numbers_there->of(state_, numbers);
    step.numbers = {numbers_->get(), 0, 1, numbers->size(), numbers->size()};
  }
  step.own = found.own.value_or(-1);
  return step;
}

bool BorrowedAnswers::take_on_device(const KeysOnDevice& found, Trace* trace) {
  const spi::Step step{finish_step(found)};
  const DeviceSession session(*state_);
  const spi::Support support = session->check(step);
  if (!support.refusal.empty())
    refuse_answers(Errc::unsupported, session->info.spec + ": " + support.refusal);
  StepTimer timer(*session, trace);
  session->enqueue(step);
  timer.after(spi::FinishStep::name);
  timer.collect();
  return true;
}

///   first  the place of these answers among all [m * k]
template <class Real>
void BorrowedAnswers::write(std::size_t first, std::span<const Real> distance, std::span<std::int64_t> row) {
  index_.numbers.to_numbers(row);
  const DeviceSession session(*state_);
  session->write(*distance_, size(to_.distance_offset_bytes) + first * sizeof(Real), distance.data(),
                 distance.size_bytes());
  session->write(*rows_, size(to_.row_offset_bytes) + first * sizeof(std::int64_t), row.data(),
                 row.size_bytes());
}

void BorrowedAnswers::put(std::int64_t query, std::span<const Key> nearest) {
  put_lists(query, nearest, k_);
}

void BorrowedAnswers::put_lists(std::int64_t first, std::span<const Key> lists, std::size_t) {
  const FloatGuard guard;
  std::vector<float> distance(lists.size());
  std::vector<std::int64_t> row(lists.size());
  finish(index_.shown, lists, distance.data(), row.data());
  write<float>(size(first) * k_, distance, row);
}

void BorrowedAnswers::put_all(Keys& keys) {
  const FloatGuard guard;
  std::vector<float> distance(keys.row.size());
  std::vector<std::int64_t> row(distance.size());
  finish_keys(index_.shown, keys, distance.data(), row.data());
  write<float>(0, distance, row);
}

void BorrowedAnswers::put_all(Neighbors found) {
  if (found.arithmetic == Arithmetic::f64)
    write<double>(0, found.distance64, found.row);
  else
    write<float>(0, found.distance, found.row);
}

}  // namespace kith
