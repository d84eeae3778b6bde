#include "search/radius/radius.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "device/timing.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"
#include "metric/radius_bound.hpp"
#include "search/lists/shard_lists.hpp"
#include "search/resident/boxed_search.hpp"

namespace kith {

template <class Real>
std::vector<Real> bounds_of(ShownBy shown, std::span<const Real> radii, std::int64_t m,
                            std::uint32_t threads) {
  const FloatGuard guard;
  const auto count = static_cast<std::int64_t>(radii.size());
  if (count != 1 && count != m)
    throw Error(Errc::invalid_argument, "within: " + std::to_string(count) + " radii for " +
                                            std::to_string(m) + " queries; give one for all, or one a query");
  for (std::size_t q = 0; q < radii.size(); ++q)
    if (std::isnan(radii[q]))
      throw Error(Errc::invalid_argument,
                  "within: radius " + std::to_string(q) + " is NaN; every radius must be a number");
  std::vector<Real> bounds(radii.size());
  parallel_for(count, count * work_of_bound(shown.metric), threads, [&](std::int64_t q) {
    bounds[size(q)] = bound_of<Real>(shown, static_cast<double>(radii[size(q)]));
  });
  if (count != m) bounds.assign(size(m), bounds.front());
  return bounds;
}

template std::vector<float> bounds_of(ShownBy, std::span<const float>, std::int64_t, std::uint32_t);
template std::vector<double> bounds_of(ShownBy, std::span<const double>, std::int64_t, std::uint32_t);

namespace {

/// Finds the rows for some queries by distances; the queries' own rows are among them.
RadiusKeys some_by_distances(const ResidentRows& index, MatrixView<const float> queries,
                             const std::vector<float>& bounds, const SearchOptions& options,
                             const std::vector<std::int64_t>& numbers) {
  const std::vector<float> rows = gathered(queries, numbers, 0);
  const auto count = static_cast<std::int64_t>(numbers.size());
  std::vector<float> own_bounds;
  own_bounds.reserve(numbers.size());
  for (const std::int64_t q : numbers) own_bounds.push_back(bounds[size(q)]);
  SearchOptions way = options;
  way.self.reset();
  std::vector<std::uint32_t> words;
  if (options.filter.rows() > 1) {
    words = gathered(options.filter, numbers, 0);
    way.filter = {words.data(), count, options.filter.cols()};
  }
  return within_keys_by_distances(index, {rows.data(), count, queries.cols()}, own_bounds, way, nullptr);
}

/// Returns the bounds of all queries, after checking the options and preparing the queries.
std::vector<float> checked_bounds(const ResidentRows& index, const SearchRequest& request) {
  static_cast<void>(plan_within(index, request.m(), request.options));
  std::vector<float> bounds = bounds_of(index.shown, *request.radii, request.m(), request.options.threads);
  request.queries.prepare(request.options.threads);
  return bounds;
}

/// Finds the rows by boxes; nothing if boxes do not pay, or have no memory.
std::optional<RadiusKeys> keys_by_boxes(const ResidentRows& index, MatrixView<const float> rows,
                                        const std::vector<float>& bounds, const SearchOptions& options,
                                        Trace* trace) {
  if (trace) restart(*trace);
  try {
    return within_by_boxes(index, rows, bounds, options, trace,
                           [&](const std::vector<std::int64_t>& numbers) {
                             return some_by_distances(index, rows, bounds, options, numbers);
                           });
  } catch (const Error& error) {  // a list for each query may not fit into memory
    if (options.boxes == true || error.code() != Errc::out_of_memory) throw;
    if (trace) restart(*trace);
  }
  return std::nullopt;
}

}  // namespace

RadiusNeighbors within_resident(const ResidentRows& index, const SearchRequest& request, Trace* trace) {
  const std::vector<float> bounds = checked_bounds(index, request);
  const MatrixView<const float> rows = request.queries.rows().on_host();
  auto keys = keys_by_boxes(index, rows, bounds, request.options, trace);
  if (!keys) return within_by_distances(index, rows, bounds, request.options, trace);
  RadiusNeighbors found{keys->queries, std::move(keys->first), {}, std::move(keys->row)};
  found.distance.resize(keys->value.size());
  const FloatGuard guard;
  finish_values(index.shown, keys->value, found.distance.data());
  return found;
}

RadiusKeys keys_within_resident(const ResidentRows& index, const SearchRequest& request, Trace* trace) {
  const std::vector<float> bounds = checked_bounds(index, request);
  const MatrixView<const float> rows = request.queries.rows().on_host();
  if (auto keys = keys_by_boxes(index, rows, bounds, request.options, trace)) return *std::move(keys);
  return within_keys_by_distances(index, rows, bounds, request.options, trace);
}

}  // namespace kith
