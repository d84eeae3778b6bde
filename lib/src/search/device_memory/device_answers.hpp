// Answers in memory of the device that an Index is on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kith/device_neighbors.hpp"
#include "kith/trace.hpp"
#include "rows/index_state.hpp"

namespace kith {

/// Whether places of rows are not their numbers, so that the host makes all answers.
bool host_makes_answers(const Index::State& index);

/// Memory of a caller for distances and rows, borrowed for one search.
class BorrowedAnswers {
 public:
  ///   cells  m * k
  /// Throws unsupported: it is memory of the host; and what spi::Device::borrow() throws.
  ///        invalid_argument: places that are not aligned to their elements. Locks the device.
  BorrowedAnswers(std::shared_ptr<Device::State> state, const DeviceNeighbors& to, std::int64_t cells,
                  std::int64_t k);
  ~BorrowedAnswers();
  BorrowedAnswers(const BorrowedAnswers&) = delete;
  BorrowedAnswers& operator=(const BorrowedAnswers&) = delete;

  /// Enqueue what makes of the keys of a query tile the answers of queries first, first + 1, ... Locks the
  /// device.
  void finish(Metric metric, const spi::Grid<Key>& keys, std::int64_t first, Trace* trace) const;
  /// All answers, where the host has made them. Locks the device.
  ///   distance, row  [cells]
  void write(std::span<const float> distance, std::span<const std::int64_t> row) const;

 private:
  const std::shared_ptr<Device::State> state_;
  const DeviceNeighbors to_;
  const std::size_t k_;
  std::unique_ptr<spi::Allocation> distance_, index_;
};

}  // namespace kith
