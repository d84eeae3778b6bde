#include "kith/index.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "base/names.hpp"
#include "base/refuse.hpp"
#include "base/text.hpp"
#include "device/device_set.hpp"
#include "kith/error.hpp"
#include "rows/index_state.hpp"
#include "rows/landed/borrowed.hpp"
#include "rows/landed/column_ranges.hpp"
#include "rows/landed/column_variances.hpp"
#include "rows/landed/moved_rows.hpp"
#include "rows/prepared/prepared_metric.hpp"
#include "rows/rows.hpp"
#include "search/doubles/double_index.hpp"
#include "search/doubles/double_rows_of_index.hpp"
#include "search/groups/group_search.hpp"
#include "search/groups/row_groups.hpp"
#include "search/index_checks.hpp"
#include "search/sets/new_store.hpp"
#include "search/stores/index_rows.hpp"

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

/// Refuses to leave rows where they are: the caller may change that memory once the Index exists.
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

/// Returns the places of these rows, ascending. Throws invalid_argument: a row is missing, or is named twice.
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

/// Returns max |element| of the rows, in the precision of the Index.
double largest_of(const Index::State& index) {
  const FloatGuard guard;
  return index.doubles ? index.doubles->largest : static_cast<double>(index.store->largest());
}

/// Sums the columns of training rows, for learning a centre.
ColumnSums sums_of(const Index::State& index, const RowsView& rows) {
  std::vector<unsigned char> copy;
  ColumnSums sums;
  sums.add(rows_on_host("index", "training", index.device.state(), rows, copy));
  return sums;
}

/// Checks IndexOptions::reserve before any memory is requested.
void check_reserve(const IndexOptions& options) {
  if (options.reserve < 0 || options.reserve > most_rows)
    refuse("index", "reserve = " + std::to_string(options.reserve) + "; choose from 0 to " +
                        std::to_string(most_rows));
}

}  // namespace

void check_shard(const IndexOptions& options, Metric metric, std::int64_t rows, double largest) {
  check_reserve(options);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (options.first_row < 0 || options.first_row > most - rows)
    refuse("index", "first_row = " + std::to_string(options.first_row) + " with " + std::to_string(rows) +
                        " rows; choose from 0 to " + std::to_string(most - rows));
  if (options.first_row != 0 && !options.ids.empty())
    refuse("index", "first_row = " + std::to_string(options.first_row) +
                        " with ids, which are numbers of all shards already; leave first_row out");
  if (metric == Metric::negative_dot && options.largest != 0 &&
      !(static_cast<double>(options.largest) >= largest))
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
  if (metric == Metric::haversine && !options.features.empty())
    refuse("index", "haversine takes its 2 columns, but features are chosen; leave them out");
  return ordered_features(options.features, prepared_columns(metric, columns));
}

Index::Index(Device device, const RowsView& given_rows, Metric metric, const IndexOptions& options) try {
  if (const Metric named = metric_of_power(metric, options.p); named != metric) {
    *this = Index(std::move(device), given_rows, named, without_p(options));
    return;
  }
  check_shape("training", given_rows);
  if (!is_set(device)) check_count(given_rows.rows);
  check_element("index", "training", given_rows, metric);
  check_residence(options);
  auto state =
      std::make_shared<State>(RowSchema(std::move(device), metric, prepared_columns(metric, given_rows.cols),
                                        checked_features(options, metric, given_rows.cols)));
  state->arithmetic = arithmetic_of(options, metric, given_rows.element);
  std::vector<unsigned char> copy;
  const auto rows_here = [&] {
    return RowsInParts(rows_on_host("index", "training", state->device.state(), given_rows, copy));
  };
  state->set_prepared(prepared_metric_of(
      options, metric, given_rows.cols, state->features,
      [&] { return variances_of(rows_here(), state->features, options.first_row); },
      [&] { return ranges_of_columns(rows_here(), metric, state->features, options.first_row); }));
  state->set_box(box_of(options, metric, given_rows.cols, state->features));
  if (state->arithmetic == Arithmetic::f32 && !state->box && !state->prepared)
    state->shift = centre_of(options, metric, given_rows.element, given_rows.cols, state->features,
                             [&] { return sums_of(*state, given_rows); });
  const MovedRows moved("index", "training", *state, given_rows, {}, options.first_row);
  const RowsView& train = moved.view();
  check_shard(options, metric, train.rows, 0);
  const std::vector<std::int64_t> order = order_of_ids("index", options.ids, train.rows, 0);
  state->rows = train.rows;
  state->element = train.element;
  state->numbers = options.ids.empty() ? RowNumbers(train.rows) : RowNumbers(in_order(options.ids));
  state->first_row = options.first_row;
  state->largest_of_shards = options.largest;
  check_reserve(options);
  state->groups = groups_of(state->device, options, train.rows);
  const RowsForIndex rows{"training", train, order, 0, options.first_row};
  if (state->arithmetic == Arithmetic::f64)
    put_doubles(*state, rows, options);
  else
    state->store = new_store(*state, rows, options);
  check_shard(options, metric, train.rows, largest_of(*state));
  state_ = std::move(state);
} catch (...) {
  rethrow_as_error();
}

Index Index::with(const RowsView& given_rows, std::span<const std::int64_t> ids) const try {
  check_shape("added", given_rows);
  refuse_groups("index", *state_, "take no more rows");
  const MovedRows moved("index", "added", *state_, given_rows);
  const RowsView& more = moved.view();
  if (more.cols != state_->columns)
    refuse("index", "the added rows have " + std::to_string(more.cols) + " columns but the index has " +
                        std::to_string(state_->columns) + "; give as many");
  if (!is_set(state_->device)) check_count(state_->rows + more.rows);
  const std::vector<std::int64_t> order = order_of_ids("index", ids, more.rows, state_->numbers.next());
  check_element("index", "added", more, state_->metric);
  auto state = std::make_shared<State>(*state_);
  state->rows = state_->rows + more.rows;
  state->element = more.element == state_->element ? more.element : Element::f32;
  state->numbers = state_->numbers.with(state_->rows, more.rows, in_order(ids));
  if (state->first_row != 0 && state->numbers.has_ids())
    refuse("index", "the index has first_row = " + std::to_string(state->first_row) +
                        ", so rows are not given ids; leave them out");
  const RowsForIndex added{"added", more, order, state_->rows};
  if (state->arithmetic == Arithmetic::f64)
    append_doubles(*state, added);
  else
    state->store = state_->store->appended(*state, added);
  check_shard({{}, state->first_row, state->largest_of_shards}, state->metric, state->numbers.positions(),
              largest_of(*state));
  Index grown = *this;
  grown.state_ = std::move(state);
  return grown;
} catch (...) {
  rethrow_as_error();
}

Index Index::without(std::span<const std::int64_t> rows) const try {
  refuse_groups("index", *state_, "none of them is removed");
  const std::vector<std::int64_t> places = places_of(*state_, rows);
  if (static_cast<std::int64_t>(places.size()) == state_->live())
    refuse("index", "all " + std::to_string(places.size()) + " rows would be removed; leave at least one");
  auto state = std::make_shared<State>(*state_);
  state->removed = state_->removed.with(places);
  Index rest = *this;
  rest.state_ = std::move(state);
  return rest;
} catch (...) {
  rethrow_as_error();
}

Index Index::compact() const try {
  if (state_->removed.count() == 0 && state_->store->info().compact) return *this;
  const std::vector<std::int64_t> places = state_->live_places();
  auto state = std::make_shared<State>(*state_);
  if (state->arithmetic == Arithmetic::f64)
    keep_doubles(*state, places);
  else
    state->store = state_->store->subset(*state_, places);
  state->rows = static_cast<std::int64_t>(places.size());
  if (state_->removed.count() > 0) state->numbers = state_->numbers.of(places);
  state->removed = {};
  Index rest = *this;
  rest.state_ = std::move(state);
  return rest;
} catch (...) {
  rethrow_as_error();
}

std::string_view name(Arithmetic arithmetic) {
  return name_in(names_of<Arithmetic>, arithmetic);
}

const Device& Index::device() const {
  return state_->device;
}
Metric Index::metric() const {
  return state_->shown.metric;
}
ShownBy Index::shown() const {
  return state_->shown;
}
Arithmetic Index::arithmetic() const {
  return state_->arithmetic;
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
  std::vector<std::int64_t> numbers = state_->live_places();
  state_->numbers.to_numbers(numbers);
  return numbers;
} catch (...) {
  rethrow_as_error();
}

std::int64_t Index::dims() const {
  return given_columns(state_->shown.metric, state_->columns);
}
std::int64_t Index::first_row() const {
  return state_->first_row;
}
const std::vector<std::int64_t>& Index::features() const {
  static const std::vector<std::int64_t> of_haversine{0, 1};
  if (state_->shown.metric == Metric::haversine) return of_haversine;
  return state_->features;
}
const std::vector<double>& Index::centre() const {
  return state_->shift;
}
const std::vector<double>& Index::box() const {
  static const std::vector<double> none;
  return state_->box ? state_->box->lengths() : none;
}

Residence Index::residence() const {
  return state_->store->info().residence;
}

std::size_t Index::memory_bytes() const {
  const std::size_t groups = state_->groups ? state_->groups->bytes() : 0;
  return RowGroups::bytes_of_rows(*state_) + state_->numbers_there->bytes() + groups;
}

}  // namespace kith
