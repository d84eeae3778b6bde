// The rows of an Index in boxes, in device memory. docs/boxes.md, section 2.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "boxes/box_order.hpp"
#include "device/device_state.hpp"
#include "kith/plan.hpp"
#include "kith/spi.hpp"
#include "kith/trace.hpp"
#include "rows/index_state.hpp"

namespace kith {

class IndexBoxes {
 public:
  /// Reads the rows from the device, and puts them in order on the host. Locks the device now and then.
  /// Throws out_of_memory; interrupted: options.stop was asked to stop.
  IndexBoxes(const Index::State& index, const PlanOptions& options);

  spi::Boxes boxes() const;
  const BoxOrder& order() const { return order_; }
  /// Of device memory.
  std::size_t bytes() const;

 private:
  IndexBoxes(const Index::State& index, const std::vector<float>& rows, const PlanOptions& options);

  std::uint32_t rows_, dims_;
  BoxOrder order_;
  DeviceMemory ordered_, numbers_, bounds_;
};

/// The boxes of an Index, made by the first search that wants them. Any thread.
/// Throws what making them throws.
///   trace  is told what it took, if they were not there; may be null
std::shared_ptr<const IndexBoxes> boxes_for(const Index::State& index, const PlanOptions& options,
                                            Trace* trace = nullptr);

}  // namespace kith
