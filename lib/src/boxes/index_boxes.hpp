// The rows of an Index in boxes, in device memory. docs/boxes.md, section 2.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "boxes/box_order.hpp"
#include "device/device_state.hpp"
#include "kith/spi.hpp"
#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/resident_rows.hpp"

namespace kith {

/// Makes the step by which a device sorts q queries. Memory may be null if the step is only checked.
///   queries  [q, dims]
///   frame    [1, curve_columns(dims) + 1]
///   out      [q]
spi::Step order_step(const spi::RowBlocks& queries, spi::Allocation* frame, spi::Allocation* out,
                     const spi::Scratch& scratch, std::uint32_t threads);

/// Returns whether a device sorts rows with this many columns and makes the boxes itself. Otherwise the host
/// does: a CPU reads fewer leaves in k-d order, and some devices cannot sort.
bool makes_boxes(const Device::State& device, std::int64_t dims);

class IndexBoxes {
 public:
  /// Reads the rows from the device, which it locks now and then. Throws out_of_memory; interrupted:
  /// options.stop was asked to stop.
  IndexBoxes(const ResidentRows& index, const SearchOptions& options);

  spi::Boxes boxes() const;
  /// Returns the order into which the host sorts queries; none if the device sorts them by order_step()
  /// and frame().
  const std::optional<BoxOrder>& order() const { return order_; }
  spi::Allocation* frame() const { return frame_.get(); }
  /// Returns how many bytes of device memory the boxes take.
  std::size_t bytes() const;

 private:
  void make_on_device(const ResidentRows& index, const SearchOptions& options);
  void make_on_host(const ResidentRows& index, const SearchOptions& options);

  std::uint32_t rows_, dims_;
  std::shared_ptr<const ColumnTerms> terms_;
  std::optional<BoxOrder> order_;
  DeviceMemory frame_, ordered_, numbers_, bounds_;
};

/// Returns the boxes of an Index; the first search that needs them makes them. Any thread may call this.
/// Throws what making them throws.
///   trace  gets the time and memory of making them, if they were not there; may be null
std::shared_ptr<const IndexBoxes> boxes_for(const ResidentRows& index, const SearchOptions& options,
                                            Trace* trace = nullptr);

}  // namespace kith
