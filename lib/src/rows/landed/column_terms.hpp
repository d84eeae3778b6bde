// The parameters of columns, which choose terms in the place of differences (metrics.def).
#pragma once

#include <memory>
#include <vector>

#include "device/device_state.hpp"
#include "kith/device.hpp"
#include "kith/metric.hpp"

namespace kith {

class ColumnTerms {
 public:
  ///   device  has the parameters in its memory, too, unless it is a set, whose members have their own
  ///   values  [dims], of the columns that count
  ColumnTerms(const Device& device, std::vector<double> values);

  /// Returns the same terms for a member of a set.
  std::shared_ptr<const ColumnTerms> on(const Device& member) const;
  Terms kind() const { return kind_; }
  bool is_mixed() const { return kind_ != Terms::periodic; }
  const std::vector<float>& floats() const { return floats_; }
  const std::vector<double>& doubles() const { return doubles_; }
  /// Returns spi::RowBlocks::terms.
  const spi::Allocation* there() const { return there_.get(); }

 private:
  const std::vector<double> doubles_;
  Terms kind_ = Terms::periodic;
  std::vector<float> floats_;
  DeviceMemory there_;
};

}  // namespace kith
