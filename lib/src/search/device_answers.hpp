// Writes answers to memory of the device that an Index is on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kith/device_neighbors.hpp"
#include "kith/neighbors.hpp"
#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/index_state.hpp"
#include "search/resident/answer_sink.hpp"

namespace kith {

/// Borrows memory of a caller for distances and rows, for one search.
class BorrowedAnswers final : public AnswerSink {
 public:
  ///   index  whose rows are found; must outlive this
  ///   cells  m * k
  /// Throws unsupported: it is memory of the host; and what spi::Device::borrow() throws.
  ///        invalid_argument: distances of another width than those of the Index; places that are not
  ///                          aligned to their elements. Locks the device.
  BorrowedAnswers(const Index::State& index, const DeviceNeighbors& to, std::int64_t cells, std::int64_t k);
  ~BorrowedAnswers() override;

  void begin(std::int64_t, std::int64_t) override {}
  /// Enqueues the step that turns the keys into answers; angles are made on the host. Locks the device.
  bool takes_on_device() const override { return !shows_on_host(index_.shown); }
  bool take_on_device(const KeysOnDevice& found, Trace* trace) override;
  /// Takes answers that the host made, and copies them to the device. Locks it.
  void put(std::int64_t query, std::span<const Key> nearest) override;
  bool takes_lists() const override { return true; }  // two copies to the device in place of two a query
  void put_lists(std::int64_t first, std::span<const Key> lists, std::size_t k) override;
  void put_all(Keys& keys) override;
  /// Copies answers with places to the device. Locks it.
  void put_all(Neighbors found);

 private:
  template <class Real>
  void write(std::size_t first, std::span<const Real> distance, std::span<std::int64_t> row);
  spi::FinishStep finish_step(const KeysOnDevice& found);

  const Index::State& index_;
  const std::shared_ptr<Device::State> state_;
  const DeviceNeighbors to_;
  const std::size_t k_;
  std::unique_ptr<spi::Allocation> distance_, rows_;
  /// Holds the operand FinishStep::places; empty until it is needed. At most one filter of a search makes
  /// places necessary.
  DeviceMemory places_;
  std::shared_ptr<const DeviceMemory> numbers_;
};

}  // namespace kith
