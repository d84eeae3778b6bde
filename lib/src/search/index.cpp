#include "kith/index.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "base/border.hpp"
#include "base/text.hpp"
#include "boxes/index_boxes.hpp"
#include "certified/quantized_rows.hpp"
#include "device/timing.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"
#include "metric/chain.hpp"
#include "rows/rows.hpp"
#include "search/pipeline.hpp"
#include "search/search.hpp"

namespace kith {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(Errc::invalid_argument, "index: " + message);
}

void check_shape(const char* what, const RowsView& rows) {
  if (rows.rows < 1 || rows.cols < 1)
    refuse(std::string("the ") + what + " rows are [" + std::to_string(rows.rows) + ", " +
           std::to_string(rows.cols) + "]; give at least one row and one column");
}

/// Of bits none: no proposer is asked for them, and no arithmetic of floats may see them.
double measured_reach(const Index::State& index, const PreparedRows& rows) {
  return compares_bits(index.metric) ? 0 : clip_range_of(rows.view, index.centre);
}

void check_count(std::int64_t rows) {
  if (rows > most_rows)
    refuse(std::to_string(rows) + " training rows, but an index holds at most " + std::to_string(most_rows) +
           "; split them over several");
}

/// Of a shard: its numbers, and what it is told of the others' elements.
///   largest  max |element| of the rows here
void check_shard(const IndexOptions& options, Metric metric, std::int64_t rows, float largest) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (options.first_row < 0 || options.first_row > most - rows)
    refuse("first_row = " + std::to_string(options.first_row) + " with " + std::to_string(rows) +
           " rows; choose from 0 to " + std::to_string(most - rows));
  if (metric == Metric::negative_dot && options.largest != 0 && !(options.largest >= largest))
    refuse("largest = " + text_of(options.largest) + ", but the training rows reach " + text_of(largest) +
           "; give the largest |element| of the rows of all shards");
}

}  // namespace

std::vector<std::int64_t> ordered_features(const std::vector<std::int64_t>& asked, std::int64_t columns) {
  std::vector<std::int64_t> features = asked;
  if (asked.empty()) {
    features.resize(static_cast<std::size_t>(columns));
    std::iota(features.begin(), features.end(), 0);
  }
  std::sort(features.begin(), features.end());
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (features[i] < 0 || features[i] >= columns)
      refuse("there is no feature " + std::to_string(features[i]) + ", since rows have " +
             std::to_string(columns) + (columns == 1 ? " column" : " columns") + "; choose from 0 to " +
             std::to_string(columns - 1));
    if (i > 0 && features[i] == features[i - 1])
      refuse("feature " + std::to_string(features[i]) + " is named twice; name each once");
  }
  return features;
}

Index::Index(Device device, const RowsView& train, Metric metric, const IndexOptions& options) try {
  check_shape("training", train);
  check_count(train.rows);
  check_element("index", "training", train, metric);
  if (compares_bits(metric) && !options.features.empty())
    refuse(std::string(name(metric)) +
           " compares whole rows of bits, but features are chosen; leave them out");
  auto state = std::make_shared<State>(std::move(device), metric, train.cols,
                                       ordered_features(options.features, train.cols));
  check_shard(options, metric, train.rows, 0);
  const PreparedRows rows =
      prepare_rows("index", "training", train, metric, 0, state->mask(), options.first_row);
  check_shard(options, metric, train.rows, rows.largest);
  state->rows = train.rows;
  state->element = train.element;
  state->first_row = options.first_row;
  state->largest_of_shards = options.largest;
  state->largest = rows.largest;
  state->chunks = upload_chunks(state->device.state(), rows.view, 0, 0);
  state->centre = centre_of(rows.view, metric);
  state->clip_range = measured_reach(*state, rows);
  state_ = std::move(state);
} catch (...) {
  rethrow_as_error();
}

Index Index::with(const RowsView& more) const try {
  check_shape("added", more);
  if (more.cols != state_->columns)
    refuse("the added rows have " + std::to_string(more.cols) + " columns but the index has " +
           std::to_string(state_->columns) + "; give as many");
  check_count(state_->rows + more.rows);
  const PreparedRows rows = prepare_rows("index", "added", more, state_->metric, 0, state_->mask());
  auto state = std::make_shared<State>(state_->device, state_->metric, state_->columns, state_->features);
  state->rows = state_->rows + more.rows;
  state->element = more.element == state_->element ? more.element : Element::f32;
  state->first_row = state_->first_row;
  state->largest_of_shards = state_->largest_of_shards;
  check_shard({{}, state->first_row, state->largest_of_shards}, state->metric, state->rows, rows.largest);
  state->largest = std::max(state_->largest, rows.largest);
  state->chunks = state_->chunks;
  for (Chunk& chunk : upload_chunks(state->device.state(), rows.view, state_->rows, 0))
    state->chunks.push_back(std::move(chunk));
  state->centre = state_->centre;
  state->clip_range = std::max(state_->clip_range, measured_reach(*state, rows));
  Index grown = *this;
  grown.state_ = std::move(state);
  return grown;
} catch (...) {
  rethrow_as_error();
}

Neighbors Index::search(const RowsView& queries, std::int64_t k, const PlanOptions& options,
                        Trace* trace) const try {
  Neighbors found;
  search_into(queries, k, found, options, trace);
  return found;
} catch (...) {
  rethrow_as_error();
}

void Index::search_into(const RowsView& queries, std::int64_t k, Neighbors& found, const PlanOptions& options,
                        Trace* trace) const try {
  search_with(*state_, queries, k, options, trace, found, nullptr);
} catch (...) {
  rethrow_as_error();
}

Keys Index::search_keys(const RowsView& queries, std::int64_t k, const PlanOptions& options,
                        Trace* trace) const try {
  return search_for_keys(*state_, queries, k, options, trace);
} catch (...) {
  rethrow_as_error();
}

void Index::prepare(std::int64_t m, std::int64_t k, const PlanOptions& options) const try {
  Feedback told = state_->lessons.feedback();
  told.boxes_made = true;  // so that what it takes to make them is no reason against them
  const Plan plan = plan_search(*state_, m, k, options, told);
  if (plan.boxes)
    boxes_for(*state_, options);
  else if (plan.proposer != Proposer::none)
    quantized_rows_for(*state_, plan);
} catch (...) {
  rethrow_as_error();
}

Plan Index::plan(std::int64_t m, std::int64_t k, const PlanOptions& options, const Feedback& feedback) const
    try {
  return plan_search(*state_, m, k, options, feedback);
} catch (...) {
  rethrow_as_error();
}

Plan Index::plan(std::int64_t m, std::int64_t k, const PlanOptions& options) const {
  return plan(m, k, options, feedback());
}

Feedback Index::feedback() const try { return state_->lessons.feedback(); } catch (...) {
  rethrow_as_error();
}

const Device& Index::device() const {
  return state_->device;
}
Metric Index::metric() const {
  return state_->metric;
}
std::int64_t Index::rows() const {
  return state_->rows;
}
std::int64_t Index::dims() const {
  return state_->columns;
}
std::int64_t Index::first_row() const {
  return state_->first_row;
}
const std::vector<std::int64_t>& Index::features() const {
  return state_->features;
}

std::size_t Index::memory_bytes() const {
  std::size_t bytes = 0;
  for (const Chunk& chunk : state_->chunks) bytes += chunk.memory.get()->bytes;
  const std::lock_guard lock(state_->quantized_mutex);
  for (const auto& [proposer, quantized] : state_->quantized_rows)
    if (quantized) bytes += quantized->bytes();  // none where there was no memory for it
  if (state_->boxes) bytes += state_->boxes->bytes();
  return bytes;
}

}  // namespace kith
