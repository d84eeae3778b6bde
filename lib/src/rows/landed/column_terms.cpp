#include "rows/landed/column_terms.hpp"

#include "base/float_guard.hpp"
#include "device/device_set.hpp"
#include "rows/index_state.hpp"
#include "rows/prepared/prepared_metric.hpp"

namespace kith {

ColumnTerms::ColumnTerms(const Device& device, std::vector<double> values) : doubles_(std::move(values)) {
  const FloatGuard guard;
  for (const double value : doubles_) {
    floats_.push_back(static_cast<float>(value));
    if (floats_.back() == canberra_term) kind_ = Terms::pairs;
    if (value <= 0 && kind_ == Terms::periodic) kind_ = Terms::mixed;
  }
  if (!is_set(device)) there_ = uploaded(device.state(), floats_);
}

std::shared_ptr<const ColumnTerms> ColumnTerms::on(const Device& member) const {
  return std::make_shared<const ColumnTerms>(member, doubles_);
}

void Index::State::set_prepared(std::shared_ptr<const PreparedMetric> metric) {
  prepared = std::move(metric);
  if (!prepared) return;
  shown = prepared->shown();
  set_terms(prepared->terms());
}

void Index::State::set_box(std::shared_ptr<const PeriodicBox> in) {
  box = std::move(in);
  if (box) set_terms(box->terms());
}

}  // namespace kith
