#include "search/filtered/kept_rows.hpp"

#include <algorithm>
#include <cmath>

#include "base/float_guard.hpp"
#include "boxes/packed_rows.hpp"
#include "certified/quantized_rows.hpp"
#include "certified/row_sample.hpp"
#include "rows/gathered_rows.hpp"
#include "rows/landing.hpp"

namespace kith {

std::vector<std::int64_t> live_places(const Index::State& index) {
  std::vector<std::int64_t> places;
  places.reserve(static_cast<std::size_t>(index.live()));
  for (std::int64_t place = 0; place < index.rows; ++place)
    if (!index.removed.has(place)) places.push_back(place);
  return places;
}

double measured_reach(const Index::State& index, MatrixView<const float> rows) {
  return compares_bits(index.metric) ? 0 : clip_range_of(rows, index.centre);
}

namespace {

/// Of so many rows of an Index, but for these and what is known of their values.
std::shared_ptr<Index::State> state_for(const Index::State& index, std::int64_t rows) {
  auto state = std::make_shared<Index::State>(index.device, index.metric, index.columns, index.features);
  state->rows = rows;
  state->element = index.element;
  state->numbers = RowNumbers(rows);
  state->first_row = index.first_row;
  state->largest_of_shards = index.largest_of_shards;
  return state;
}

}  // namespace

std::shared_ptr<Index::State> state_of_rows(const Index::State& index, std::span<const std::int64_t> places,
                                            std::uint32_t threads) {
  const std::vector<float> rows = gathered_rows(index, places, threads);
  const MatrixView<const float> view(rows.data(), static_cast<std::int64_t>(places.size()), index.dims);
  std::shared_ptr<Index::State> state = state_for(index, view.rows());
  if (!compares_bits(index.metric)) {
    const FloatGuard guard;
    for (const float value : rows) state->largest = std::max(state->largest, std::fabs(value));
  }
  state->chunks = upload_chunks(state->device.state(), view, 0, threads);
  sampled_values(view, index.metric, state->element, threads).tell(*state);
  return state;
}

std::shared_ptr<Index::State> state_of_kept(const Index::State& index, std::span<const std::int64_t> places,
                                            std::uint32_t threads) {
  if (!packs_rows(*index.device.state(), index.dims)) return state_of_rows(index, places, threads);
  std::shared_ptr<Index::State> state = state_for(index, static_cast<std::int64_t>(places.size()));
  state->chunks = packed_chunks(index, places, threads);
  state->largest = index.largest;
  state->centre = index.centre;
  state->clip_range = index.clip_range;
  state->grid = index.grid;
  state->spread = index.spread;
  return state;
}

}  // namespace kith
