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

/// Makes the step by which a device orders q queries. Memory may be null for checking.
///   queries  [q, dims]
///   frame    [1, curve_columns(dims) + 1]
///   out      [q]
spi::Step order_step(const spi::RowBlocks& queries, spi::Allocation* frame, spi::Allocation* out,
                     const spi::Scratch& scratch, std::uint32_t threads);

/// Returns whether a device orders rows of so many columns and makes the boxes itself. Else the host does: a
/// CPU reads fewer leaves in k-d order, and some devices cannot sort.
bool makes_boxes(const Device::State& device, std::int64_t dims);

class IndexBoxes {
 public:
  /// Reads the rows where they lie on the device. Locks it now and then.
  /// Throws out_of_memory; interrupted: options.stop was asked to stop.
  IndexBoxes(const ResidentRows& index, const SearchOptions& options);

  spi::Boxes boxes() const;
  /// The order into which the host sorts queries; none if the device sorts them by order_step() and frame().
  const std::optional<BoxOrder>& order() const { return order_; }
  spi::Allocation* frame() const { return frame_.get(); }
  /// Returns the bytes of device memory that it takes.
  std::size_t bytes() const;

 private:
  void make_on_device(const ResidentRows& index, const SearchOptions& options);
  void make_on_host(const ResidentRows& index, const SearchOptions& options);

  std::uint32_t rows_, dims_;
  std::optional<BoxOrder> order_;
  DeviceMemory frame_, ordered_, numbers_, bounds_;
};

/// The boxes of an Index, made by the first search that wants them. Any thread.
/// Throws what making them throws.
///   trace  is told what it took, if they were not there; may be null
std::shared_ptr<const IndexBoxes> boxes_for(const ResidentRows& index, const SearchOptions& options,
                                            Trace* trace = nullptr);

}  // namespace kith
