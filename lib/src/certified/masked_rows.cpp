#include "certified/masked_rows.hpp"

#include <utility>

#include "base/numbers.hpp"
#include "device/timing.hpp"

namespace kith {

MaskedRows::MaskedRows(const ResidentRows& index, const Plan& plan,
                       std::shared_ptr<const IndexQuantizedRows> rows, const DeviceFilter& filter,
                       Trace* trace)
    : rows_(std::move(rows)) {
  if (!plan.masked) return;
  const std::shared_ptr<Device::State>& state = index.device.state();
  for (std::size_t i = 0; i < index.chunks.size(); ++i) {
    const spi::Grid<float> terms = rows_->of(i, 0, index.chunks[i].rows).row_terms;
    row_terms_.emplace_back(state, terms.rows * terms.stride * sizeof(float));
  }
  const DeviceSession session(*state);
  StepTimer timer(*session, trace);
  for (std::size_t i = 0; i < index.chunks.size(); ++i) {
    const Chunk& chunk = index.chunks[i];
    session->enqueue(filter.mask(of(i, 0, chunk.rows).row_terms, static_cast<std::uint32_t>(chunk.first),
                                 rows_->of(i, 0, chunk.rows).row_terms));
    timer.after(spi::MaskStep::name);
  }
  timer.collect();
}

spi::QuantizedRows MaskedRows::of(std::size_t chunk, std::int64_t first, std::int64_t rows) const {
  spi::QuantizedRows some = rows_->of(chunk, first, rows);
  if (!row_terms_.empty()) some.row_terms.memory = row_terms_[chunk].get();
  return some;
}

spi::Step mask_terms_step(const Plan& plan, std::size_t rows) {
  const spi::Grid<float> terms{nullptr, 0, spi::terms_a_row, rows, rows};
  return mask_step(plan, nullptr, terms, 0, terms);
}

}  // namespace kith
