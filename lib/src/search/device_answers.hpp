// Answers in memory of the device that an Index is on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kith/device_neighbors.hpp"
#include "kith/plan.hpp"
#include "kith/trace.hpp"
#include "rows/index_state.hpp"
#include "search/resident/answer_sink.hpp"

namespace kith {

/// Whether places of rows are not their numbers, so that the host makes all answers.
bool host_makes_answers(const Index::State& index);

/// Throws unsupported: the host has a part in the answers.
void refuse_host_work(const Index::State& index, const PlanOptions& options);

/// Memory of a caller for distances and rows, borrowed for one search.
class BorrowedAnswers final : public AnswerSink {
 public:
  ///   cells  m * k
  /// Throws unsupported: it is memory of the host; and what spi::Device::borrow() throws.
  ///        invalid_argument: places that are not aligned to their elements. Locks the device.
  BorrowedAnswers(std::shared_ptr<Device::State> state, Metric metric, const DeviceNeighbors& to,
                  std::int64_t cells, std::int64_t k);
  ~BorrowedAnswers() override;

  void begin(std::int64_t, std::int64_t) override {}
  /// Enqueues what makes of the keys the answers. Locks the device.
  bool take_on_device(const spi::Grid<Key>& keys, std::int64_t first, Trace* trace) override;
  /// Where the host has made the answers. Locks the device.
  void put(std::int64_t query, std::span<const Key> nearest) override;
  void put_all(Keys& keys) override;

 private:
  void write(std::size_t first, std::span<const float> distance, std::span<const std::int64_t> row);

  const std::shared_ptr<Device::State> state_;
  const Metric metric_;
  const DeviceNeighbors to_;
  const std::size_t k_;
  std::unique_ptr<spi::Allocation> distance_, index_;
};

}  // namespace kith
