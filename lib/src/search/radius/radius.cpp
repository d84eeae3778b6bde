#include "search/radius/radius.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "device/timing.hpp"
#include "kith/error.hpp"
#include "metric/chain.hpp"
#include "rows/landed/centred_rows.hpp"
#include "rows/mapped_options.hpp"
#include "rows/rows.hpp"
#include "search/boxed_search.hpp"
#include "search/parted/parted_rows.hpp"
#include "search/radius/boxed_radius.hpp"
#include "search/radius/radius_distances.hpp"
#include "search/search.hpp"

namespace kith {

float bound_of(Metric metric, float radius) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  // Finished distances do not decrease with the value; no row has the root of a negative number.
  std::uint32_t within = ordered(-infinity), beyond = ordered(infinity) + 1;
  while (beyond - within > 1) {
    const std::uint32_t middle = within + (beyond - within) / 2;
    (finish(metric, unordered(middle)) > radius ? beyond : within) = middle;
  }
  return unordered(within);
}

std::vector<float> bounds_of(Metric metric, std::span<const float> radii, std::int64_t m) {
  const auto count = static_cast<std::int64_t>(radii.size());
  if (count != 1 && count != m)
    throw Error(Errc::invalid_argument, "within: " + std::to_string(count) + " radii for " +
                                            std::to_string(m) + " queries; give one for all, or one a query");
  std::vector<float> bounds;
  const FloatGuard guard;
  for (std::size_t q = 0; q < radii.size(); ++q) {
    if (std::isnan(radii[q]))
      throw Error(Errc::invalid_argument,
                  "within: radius " + std::to_string(q) + " is NaN; every radius must be a number");
    bounds.push_back(bound_of(metric, radii[q]));
  }
  if (count != m) bounds.assign(size(m), bounds.front());
  return bounds;
}

namespace {

/// Some queries of a search by distances, their own rows among what is found.
RadiusNeighbors some_by_distances(const Index::State& index, MatrixView<const float> queries,
                                  const std::vector<float>& bounds, const PlanOptions& options,
                                  const std::vector<std::int64_t>& numbers) {
  const std::vector<float> rows = gathered(queries, numbers, 0);
  const auto count = static_cast<std::int64_t>(numbers.size());
  std::vector<float> own_bounds;
  own_bounds.reserve(numbers.size());
  for (const std::int64_t q : numbers) own_bounds.push_back(bounds[size(q)]);
  PlanOptions way = options;
  way.self.reset();
  std::vector<std::uint32_t> words;
  if (options.filter.rows() > 1) {
    words = gathered(options.filter, numbers, 0);
    way.filter = {words.data(), count, options.filter.cols()};
  }
  return within_by_distances(index, {rows.data(), count, queries.cols()}, own_bounds, way, nullptr);
}

/// What the ways of a search within radii begin with.
struct AskedWithin {
  std::vector<float> bounds;  ///< [m]
  PreparedRows rows;
};

AskedWithin asked_within(const Index::State& index, const RowsView& queries, std::span<const float> radii,
                         const PlanOptions& options) {
  const std::int64_t m = queries.rows;
  if (queries.cols != index.columns)
    throw Error(Errc::invalid_argument, "within: queries have " + std::to_string(queries.cols) +
                                            " columns but the index has " + std::to_string(index.columns) +
                                            "; give as many");
  check_rows("within", "query", queries);
  static_cast<void>(plan_within(index, m, options));  // what options insist on is heard first
  AskedWithin asked{bounds_of(index.metric, radii, m),
                    prepare_rows("within", "query", queries, index.metric, options.threads, index.mask())};
  const FloatGuard guard;
  check_range("within", index.metric, asked.rows.view, index.largest_of_all());
  return asked;
}

/// Keys of rows in parts, which name places, by the numbers that shards exchange.
RadiusKeys with_numbers(const Index::State& index, RadiusKeys keys) {
  for (std::int64_t& row : keys.row) row = index.first_row + index.numbers.number(row);
  return keys;
}

RadiusKeys keys_within(const Index::State& index, MatrixView<const float> queries,
                       const std::vector<float>& bounds, const PlanOptions& options, Trace* trace) {
  if (trace) restart(*trace);
  return within_keys_by_distances(index, queries, bounds, options, trace);
}

}  // namespace

RadiusNeighbors search_within(const Index::State& index, const RowsView& given, std::span<const float> radii,
                              const PlanOptions& options, Trace* trace) {
  const CentredRows queries("within", "query", index, given);
  check_checkpoint("within", index, options);
  if (index.parted) {
    if (const auto one = index.parted->as_one(index, {queries, nullptr, {}, options}))
      return search_within(*one->index, queries, radii, one->options, trace);
    if (options.boxes == true)
      throw Error(Errc::unsupported,
                  "within: boxes give no keys, which rows in parts are merged by; leave boxes out, or search "
                  "one device");
    return finish(index.metric, within_parted(index, queries, radii, options, trace));
  }
  const Stopwatch total;
  const AskedWithin asked = asked_within(index, queries, radii, options);
  const MatrixView<const float> rows = asked.rows.view;
  if (trace) restart(*trace);
  std::optional<RadiusNeighbors> found;
  try {
    found = within_by_boxes(index, rows, asked.bounds, options, trace,
                            [&](const std::vector<std::int64_t>& numbers) {
                              return some_by_distances(index, rows, asked.bounds, options, numbers);
                            });
  } catch (const Error& error) {  // a list for each query may take more memory than there is
    if (options.boxes == true || error.code() != Errc::out_of_memory) throw;
    if (trace) restart(*trace);
  }
  if (!found) found = within_by_distances(index, rows, asked.bounds, options, trace);
  if (trace) trace->total_seconds = total.seconds();
  return *std::move(found);
}

RadiusKeys search_within_keys(const Index::State& index, const RowsView& given, std::span<const float> radii,
                              const PlanOptions& options, Trace* trace) {
  const CentredRows queries("within", "query", index, given);
  check_checkpoint("within", index, options);
  if (index.parted) {
    if (const auto one = index.parted->as_one(index, {queries, nullptr, {}, options}))
      return search_within_keys(*one->index, queries, radii, one->options, trace);
    return with_numbers(index, within_parted(index, queries, radii, options, trace));
  }
  const Stopwatch total;
  const AskedWithin asked = asked_within(index, queries, radii, options);
  RadiusKeys found = keys_within(index, asked.rows.view, asked.bounds, options, trace);
  if (trace) trace->total_seconds = total.seconds();
  return found;
}

RadiusKeys search_within_keys(const Index::State& index, const CheckedQueries& queries,
                              std::span<const float> radii, const PlanOptions& options, Trace* trace) {
  if (index.parted) {
    if (const auto one = index.parted->as_one(index, {queries.given, &queries.rows, {}, options}))
      return search_within_keys(*one->index, queries, radii, one->options, trace);
    return with_numbers(index, within_parted(index, queries, radii, options, trace));
  }
  const Stopwatch total;
  static_cast<void>(
      plan_within(index, queries.given.rows, options));  // what options insist on is heard first
  const std::vector<float> bounds = bounds_of(index.metric, radii, queries.given.rows);
  RadiusKeys found = keys_within(index, queries.rows, bounds, options, trace);
  if (trace) trace->total_seconds = total.seconds();
  return found;
}

RadiusNeighbors Index::within(const RowsView& queries, std::span<const float> radii,
                              const PlanOptions& options, Trace* trace) const try {
  const MappedOptions mapped("within", *state_, options, queries.rows, std::nullopt);
  RadiusNeighbors found = search_within(*state_, queries, radii, mapped.options(), trace);
  state_->numbers.to_numbers(found.index);
  return found;
} catch (...) {
  rethrow_as_error();
}

RadiusKeys Index::within_keys(const RowsView& queries, std::span<const float> radii,
                              const PlanOptions& options, Trace* trace) const try {
  check_no_self("within_keys", options);
  const MappedOptions mapped("within", *state_, options, queries.rows, std::nullopt);
  return search_within_keys(*state_, queries, radii, mapped.options(), trace);
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
