#include "kith/index.hpp"
#include "certified/row_sample.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

#include "base/border.hpp"
#include "base/refuse.hpp"
#include "base/text.hpp"
#include "device/device_set.hpp"
#include "kith/error.hpp"
#include "rows/landed/borrowed.hpp"
#include "rows/landed/centred_rows.hpp"
#include "rows/mapped_options.hpp"
#include "rows/rows.hpp"
#include "search/bytes/byte_rows.hpp"
#include "search/bytes/byte_windows.hpp"
#include "search/device_memory/index_rows.hpp"
#include "search/filtered/kept_rows.hpp"
#include "search/halves/half_rows.hpp"
#include "search/index_checks.hpp"
#include "search/index_plan.hpp"
#include "search/parted/parted_rows.hpp"
#include "search/search.hpp"
#include "search/sets/set_rows.hpp"

namespace kith {
namespace {

void check_shape(const char* what, const RowsView& rows) {
  if (rows.rows < 1 || rows.cols < 1)
    refuse("index", std::string("the ") + what + " rows are [" + std::to_string(rows.rows) + ", " +
                        std::to_string(rows.cols) + "]; give at least one row and one column");
}

void check_count(std::int64_t rows) {
  if (rows > most_rows)
    refuse("index", std::to_string(rows) + " training rows, but an index holds at most " +
                        std::to_string(most_rows) + "; split them over several");
}

/// Memory of the caller's is free to change once there is the Index: rows do not stay there.
void check_residence(const IndexOptions& options) {
  if (options.residence == Residence::automatic || options.residence == Residence::resident) return;
  refuse("index", "residence " + std::string(name(options.residence)) +
                      " is of rows that a source keeps; give memory_source(rows), and keep the rows");
}

std::vector<std::int64_t> in_order(std::span<const std::int64_t> ids) {
  std::vector<std::int64_t> ordered(ids.begin(), ids.end());
  std::sort(ordered.begin(), ordered.end());
  return ordered;
}

/// Where these rows lie, ascending. Throws invalid_argument: one is not there, or named twice.
std::vector<std::int64_t> places_of(const Index::State& index, std::span<const std::int64_t> rows) {
  std::vector<std::int64_t> places;
  places.reserve(rows.size());
  for (const std::int64_t row : rows) {
    const std::optional<std::int64_t> place = index.numbers.place_of_number(row, index.rows);
    if (!place || index.removed.has(*place))
      refuse("index", "there is no row " + std::to_string(row) +
                          " to remove, or it was removed before; name rows "
                          "that are there, of which the next would be " +
                          std::to_string(index.numbers.next()));
    places.push_back(*place);
  }
  std::sort(places.begin(), places.end());
  const auto twice = std::adjacent_find(places.begin(), places.end());
  if (twice != places.end())
    refuse("index",
           "row " + std::to_string(index.numbers.number(*twice)) + " is named twice; name each once");
  return places;
}

/// The same rows on the device: all but what says which of them are removed.
std::shared_ptr<Index::State> sharing(const Index::State& index) {
  auto state =
      std::make_shared<Index::State>(index.device, index.metric, index.columns, index.features, index.made);
  state->rows = index.rows;
  state->element = index.element;
  state->largest = index.largest;
  state->first_row = index.first_row;
  state->largest_of_shards = index.largest_of_shards;
  state->chunks = index.chunks;
  state->parted = index.parted;
  state->centre = index.centre;
  state->clip_range = index.clip_range;
  state->grid = index.grid;
  state->spread = index.spread;
  state->shift = index.shift;
  state->numbers = index.numbers;
  return state;
}

/// The rows of a new Index where they stay on the device as they are; null: they become floats.
std::shared_ptr<const PartedRows> rows_as_they_are(const Index::State& index, const RowsForIndex& given,
                                                   std::int64_t reserve) {
  if (!given.order.empty()) return nullptr;
  if (keeps_bytes(index, reserve)) return ByteRows::made_of(index, given, reserve);
  if (given.rows.where == Where::host && keeps_halves(index, reserve))
    return HalfRows::made_of(index, given, reserve);
  return nullptr;
}

/// The rows of a new Index, which lacks only these.
void place_rows(Index::State& index, RowsOfIndex rows, const IndexOptions& options) {
  if (is_set(index.device)) {
    index.parted = rows_on_set(index, rows.sample.view, {options.placement, options.shares, options.reserve});
    return;
  }
  index.chunks = std::move(rows.chunks);
  sampled_values(rows.sample.view, index.metric, index.element).tell(index);
}

/// Rows that lie on one device as another kind of rows, and more of them behind.
void add_to_chunks(const Index::State& before, MatrixView<const float> more, Index::State& grown) {
  grown.chunks = before.parted->as_chunks(before);
  for (Chunk& chunk : upload_chunks(grown.device.state(), more, before.rows, 0))
    grown.chunks.push_back(std::move(chunk));
  const std::vector<float> some = sampled_rows(*before.parted, before.rows, before.dims);
  const MatrixView<const float> sample(some.data(), static_cast<std::int64_t>(some.size()) / before.dims,
                                       before.dims);
  sampled_values(sample, grown.metric, Element::f32).tell(grown);
  grown.clip_range = std::max(grown.clip_range, measured_reach(grown, more));
}

/// The rows of `before` and `more` behind them, for `grown`, which lacks only these.
void add_rows(const Index::State& before, RowsOfIndex more, Index::State& grown) {
  if (before.parted) {
    grown.parted = before.parted->with(grown, more.sample.view, 0);
    if (!grown.parted) add_to_chunks(before, more.sample.view, grown);
    return;
  }
  grown.chunks = before.chunks;
  for (Chunk& chunk : more.chunks) grown.chunks.push_back(std::move(chunk));
  grown.centre = before.centre;
  grown.clip_range = std::max(before.clip_range, measured_reach(grown, more.sample.view));
  grown.grid = before.grid;
  grown.spread = before.spread;
}

/// The rows of an Index in parts that are left, in memory of their own.
std::shared_ptr<Index::State> compacted(const Index::State& index, std::span<const std::int64_t> places) {
  std::shared_ptr<Index::State> state = sharing(index);
  state->rows = static_cast<std::int64_t>(places.size());
  state->parted = index.parted->of(*state, places);
  state->largest = state->parted->largest_element();
  return state;
}

/// Of training rows by which a centre is learned.
ColumnSums sums_of(const Index::State& index, const RowsView& rows) {
  std::vector<unsigned char> copy;
  ColumnSums sums;
  sums.add(rows_on_host("index", "training", index.device.state(), rows, copy));
  return sums;
}

/// Before memory is asked for.
void check_reserve(const IndexOptions& options) {
  if (options.reserve < 0 || options.reserve > most_rows)
    refuse("index", "reserve = " + std::to_string(options.reserve) + "; choose from 0 to " +
                        std::to_string(most_rows));
}

}  // namespace

void check_shard(const IndexOptions& options, Metric metric, std::int64_t rows, float largest) {
  check_reserve(options);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (options.first_row < 0 || options.first_row > most - rows)
    refuse("index", "first_row = " + std::to_string(options.first_row) + " with " + std::to_string(rows) +
                        " rows; choose from 0 to " + std::to_string(most - rows));
  if (options.first_row != 0 && !options.ids.empty())
    refuse("index", "first_row = " + std::to_string(options.first_row) +
                        " with ids, which are numbers of all shards already; leave first_row out");
  if (metric == Metric::negative_dot && options.largest != 0 && !(options.largest >= largest))
    refuse("index", "largest = " + text_of(options.largest) + ", but the training rows reach " +
                        text_of(largest) + "; give the largest |element| of the rows of all shards");
}

std::vector<std::int64_t> ordered_features(const std::vector<std::int64_t>& asked, std::int64_t columns) {
  std::vector<std::int64_t> features = asked;
  if (asked.empty()) {
    features.resize(static_cast<std::size_t>(columns));
    std::iota(features.begin(), features.end(), 0);
  }
  std::sort(features.begin(), features.end());
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (features[i] < 0 || features[i] >= columns)
      refuse("index", "there is no feature " + std::to_string(features[i]) + ", since rows have " +
                          std::to_string(columns) + (columns == 1 ? " column" : " columns") +
                          "; choose from 0 to " + std::to_string(columns - 1));
    if (i > 0 && features[i] == features[i - 1])
      refuse("index", "feature " + std::to_string(features[i]) + " is named twice; name each once");
  }
  return features;
}

std::vector<std::int64_t> checked_features(const IndexOptions& options, Metric metric, std::int64_t columns) {
  if (compares_bits(metric) && !options.features.empty())
    refuse("index", std::string(name(metric)) +
                        " compares whole rows of bits, but features are chosen; leave them out");
  return ordered_features(options.features, columns);
}

Index::Index(Device device, const RowsView& given_rows, Metric metric, const IndexOptions& options) try {
  check_shape("training", given_rows);
  if (!is_set(device)) check_count(given_rows.rows);
  check_element("index", "training", given_rows, metric);
  check_residence(options);
  auto state = std::make_shared<State>(std::move(device), metric, given_rows.cols,
                                       checked_features(options, metric, given_rows.cols));
  state->shift = centre_of(options, metric, given_rows.element, given_rows.cols, state->features,
                           [&] { return sums_of(*state, given_rows); });
  const CentredRows centred("index", "training", *state, given_rows, options.first_row);
  const RowsView& train = centred.view();
  check_shard(options, metric, train.rows, 0);
  const std::vector<std::int64_t> order = order_of_ids("index", options.ids, train.rows, 0);
  state->rows = train.rows;
  state->element = train.element;
  state->numbers = options.ids.empty() ? RowNumbers(train.rows) : RowNumbers(in_order(options.ids));
  state->first_row = options.first_row;
  state->largest_of_shards = options.largest;
  const RowsForIndex given{"training", train, order, 0, options.first_row};
  check_reserve(options);
  state->parted = rows_as_they_are(*state, given, options.reserve);
  if (state->parted) {
    state->largest = state->parted->largest_element();
  } else {
    RowsOfIndex rows = put_rows(*state, given);
    state->largest = rows.largest;
    place_rows(*state, std::move(rows), options);
  }
  check_shard(options, metric, train.rows, state->largest);
  state_ = std::move(state);
} catch (...) {
  rethrow_as_error();
}

Index Index::with(const RowsView& given_rows, std::span<const std::int64_t> ids) const try {
  check_shape("added", given_rows);
  const CentredRows centred("index", "added", *state_, given_rows);
  const RowsView& more = centred.view();
  if (more.cols != state_->columns)
    refuse("index", "the added rows have " + std::to_string(more.cols) + " columns but the index has " +
                        std::to_string(state_->columns) + "; give as many");
  if (!is_set(state_->device)) check_count(state_->rows + more.rows);
  const std::vector<std::int64_t> order = order_of_ids("index", ids, more.rows, state_->numbers.next());
  check_element("index", "added", more, state_->metric);
  auto state = std::make_shared<State>(state_->device, state_->metric, state_->columns, state_->features);
  state->rows = state_->rows + more.rows;
  state->element = more.element == state_->element ? more.element : Element::f32;
  state->first_row = state_->first_row;
  state->largest_of_shards = state_->largest_of_shards;
  state->numbers = state_->numbers.with(state_->rows, more.rows, in_order(ids));
  state->removed = state_->removed;
  state->shift = state_->shift;
  if (state->first_row != 0 && state->numbers.has_ids())
    refuse("index", "the index has first_row = " + std::to_string(state->first_row) +
                        ", so rows are not given ids; leave them out");
  const RowsForIndex given{"added", more, order, state_->rows};
  if (state_->parted) state->parted = state_->parted->with_as_they_are(*state, given);
  if (state->parted) {
    state->largest = state->parted->largest_element();
  } else {
    RowsOfIndex rows = put_rows(*state_, given);
    state->largest = std::max(state_->largest, rows.largest);
    add_rows(*state_, std::move(rows), *state);
  }
  check_shard({{}, state->first_row, state->largest_of_shards}, state->metric, state->numbers.positions(),
              state->largest);
  Index grown = *this;
  grown.state_ = std::move(state);
  return grown;
} catch (...) {
  rethrow_as_error();
}

Index Index::without(std::span<const std::int64_t> rows) const try {
  const std::vector<std::int64_t> places = places_of(*state_, rows);
  if (static_cast<std::int64_t>(places.size()) == state_->live())
    refuse("index", "all " + std::to_string(places.size()) + " rows would be removed; leave at least one");
  std::shared_ptr<State> state = sharing(*state_);
  state->removed = state_->removed.with(places);
  Index rest = *this;
  rest.state_ = std::move(state);
  return rest;
} catch (...) {
  rethrow_as_error();
}

Index Index::compact() const try {
  const bool in_one_part = state_->parted ? state_->parted->is_compact() : state_->chunks.size() == 1;
  if (state_->removed.count() == 0 && in_one_part) return *this;
  const std::vector<std::int64_t> places = live_places(*state_);
  std::shared_ptr<State> state =
      state_->parted ? compacted(*state_, places) : state_of_rows(*state_, places, 0);
  if (state_->removed.count() == 0)
    state->numbers = state_->numbers;
  else
    state->numbers = state_->numbers.of(places);
  state->shift = state_->shift;
  Index rest = *this;
  rest.state_ = std::move(state);
  return rest;
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
  const MappedOptions mapped("search", *state_, options, queries.rows, k);
  search_with(*state_, queries, k, mapped.options(), trace, found, nullptr);
  state_->numbers.to_numbers(found.index);
} catch (...) {
  rethrow_as_error();
}

void Index::search_into(const RowsView& queries, std::int64_t k, const DeviceNeighbors& found,
                        const PlanOptions& options, Trace* trace) const try {
  search_on_device(*state_, queries, k, found, options, trace);
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
  const MappedOptions mapped("search", *state_, options, m, k);
  prepare_for(*state_, m, k, mapped.options());
} catch (...) {
  rethrow_as_error();
}

Plan Index::plan(std::int64_t m, std::int64_t k, const PlanOptions& options, const Feedback& feedback) const
    try {
  const MappedOptions mapped("search", *state_, options, m, k);
  return plan_of(*state_, m, k, mapped.options(), feedback);
} catch (...) {
  rethrow_as_error();
}

Plan Index::plan(std::int64_t m, std::int64_t k, const PlanOptions& options) const {
  return plan(m, k, options, feedback());
}

Feedback Index::feedback() const try { return feedback_of(*state_); } catch (...) {
  rethrow_as_error();
}

const Device& Index::device() const {
  return state_->device;
}
Metric Index::metric() const {
  return state_->metric;
}
std::int64_t Index::rows() const {
  return state_->live();
}
std::int64_t Index::next_row() const {
  return state_->numbers.next();
}
std::int64_t Index::positions() const {
  return state_->numbers.positions();
}

std::vector<std::int64_t> Index::numbers() const try {
  std::vector<std::int64_t> numbers = live_places(*state_);
  state_->numbers.to_numbers(numbers);
  return numbers;
} catch (...) {
  rethrow_as_error();
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
const std::vector<double>& Index::centre() const {
  return state_->shift;
}

Residence Index::residence() const {
  return state_->parted ? state_->parted->residence() : Residence::resident;
}

std::size_t Index::memory_bytes() const {
  return memory_of(*state_);
}

}  // namespace kith
