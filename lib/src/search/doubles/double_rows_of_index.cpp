#include "search/doubles/double_rows_of_index.hpp"

#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/float_guard.hpp"
#include "base/refuse.hpp"
#include "kith/error.hpp"
#include "kith/key.hpp"
#include "rows/landed/borrowed.hpp"
#include "rows/rows.hpp"
#include "search/doubles/double_index.hpp"
#include "search/lists/shard_lists.hpp"
#include "search/sets/new_store.hpp"

namespace kith {
namespace {

/// Returns an Index without rows for the floats that propose, on the same device.
std::shared_ptr<Index::State> proposing_for(const Index::State& index, const Rounding& how) {
  std::vector<std::int64_t> all(size(index.dims));
  std::iota(all.begin(), all.end(), 0);
  auto proposing = std::make_shared<Index::State>(
      RowSchema(index.device, metric_of_proposals(index.metric), index.dims, std::move(all)));
  if (!how.mixed.empty()) proposing->set_terms(how.mixed);
  if (!index.box) return proposing;
  proposing->box = std::make_shared<const PeriodicBox>(how.lengths_of_floats(), proposing->features);
  proposing->set_terms(proposing->box->terms());
  return proposing;
}

RowsView view_of(const RoundedRows& rows, std::int64_t dims) {
  return {rows.values.data(), static_cast<std::int64_t>(rows.errors.size()), dims};
}

/// Throws unsupported: the rows stay in a Source.
void check_chunks(const DoubleIndex& doubles) {
  if (!doubles.rows.source()) return;
  throw Error(Errc::unsupported, "index: the rows stay in " + doubles.rows.source()->source().name() +
                                     ", so they are not added to or compacted; make a new index");
}

PreparedDoubles prepared(const Index::State& index, const RowsForIndex& given) {
  std::vector<unsigned char> copy;
  const RowsView rows = rows_on_host("index", given.what, index.device.state(), given.rows, copy);
  PreparedDoubles some =
      prepare_doubles("index", given.what, rows, index.metric, index.mask(), given.order, 0, given.first_row);
  if (index.box) index.box->move(some.values, 0);
  return some;
}

}  // namespace

void put_prepared_doubles(Index::State& index, PreparedDoubles rows, const IndexOptions& options) {
  const FloatGuard guard;
  auto doubles = std::make_shared<DoubleIndex>();
  doubles->largest = rows.largest;
  doubles->placed = options;
  RoundingChoice choice(index.metric, rows.rows, rows.dims, index.terms.get());
  choice.add(rows);
  doubles->rounding = choice.rounding();
  const RoundedRows rounded = round_rows(index.metric, rows, doubles->rounding, 0);
  doubles->errors = largest_errors(rounded.errors);
  auto proposing = proposing_for(index, doubles->rounding);
  proposing->rows = rows.rows;
  proposing->numbers = RowNumbers(rows.rows);
  proposing->store = new_store(*proposing, {"training", view_of(rounded, index.dims), {}}, options);
  doubles->rows.append(std::move(rows), index.device.info());
  index.store = proposing->store;
  doubles->proposing = std::move(proposing);
  index.doubles = std::move(doubles);
}

Arithmetic arithmetic_of(const IndexOptions& options, Metric metric, Element element) {
  const bool centred = !options.centre.empty() || options.learn_centre;
  if (metric == Metric::haversine) {
    if (options.arithmetic != Arithmetic::f32) return Arithmetic::f64;
    refuse("index", "haversine in arithmetic f32, in which the Earth has steps of half a metre; choose f64");
  }
  if (is_of_sums(metric) && !compares_bits(metric)) {
    const bool wide = options.arithmetic == Arithmetic::automatic && is_wide(element);
    if (options.arithmetic != Arithmetic::f64 && !wide) return Arithmetic::f32;
    refuse("index", "rows of " + std::string(name(element)) + " in arithmetic f64, in which " +
                        std::string(name(metric)) +
                        " is not computed; give f32, and leave the arithmetic out");
  }
  if (options.arithmetic == Arithmetic::automatic)
    return is_wide(element) && !centred ? Arithmetic::f64 : Arithmetic::f32;
  if (options.arithmetic == Arithmetic::f32) return Arithmetic::f32;
  if (compares_bits(metric))
    refuse("index", "arithmetic f64, but " + std::string(name(metric)) +
                        " counts bits; leave the arithmetic out, or choose another metric");
  if (centred)
    refuse("index",
           "arithmetic f64 with a centre, which is for rows that are rounded to f32; leave one of them out");
  return Arithmetic::f64;
}

void put_doubles(Index::State& index, const RowsForIndex& given, const IndexOptions& options) {
  if (given.rows.rows > most_rows)
    refuse("index", std::to_string(given.rows.rows) +
                        " training rows, but an index in double precision holds at most " +
                        std::to_string(most_rows) + "; split them over several");
  PreparedDoubles rows = prepared(index, given);
  IndexOptions own;
  own.placement = options.placement;
  own.shares = options.shares;
  own.reserve = options.reserve;
  own.deduplicate = options.deduplicate;
  put_prepared_doubles(index, std::move(rows), own);
}

void leave_doubles(
    Index::State& index, std::shared_ptr<const Source> source,
    const std::function<std::shared_ptr<const Index::State>(std::shared_ptr<const Source>)>& proposing) {
  const FloatGuard guard;
  const std::span<const std::int64_t> mask = index.mask();
  const auto rows = std::make_shared<const DoubleSource>(
      std::move(source), index.metric, std::vector<std::int64_t>(mask.begin(), mask.end()), index.first_row);
  auto doubles = std::make_shared<DoubleIndex>();
  RoundingChoice choice(index.metric, rows->rows(), rows->dims());
  rows->each_block([&](const PreparedDoubles& some) {
    choice.add(some);
    doubles->largest = std::max(doubles->largest, some.largest);
  });
  doubles->rounding = choice.rounding();
  rows->each_block([&](const PreparedDoubles& some) {
    doubles->errors.include(largest_errors(round_rows(index.metric, some, doubles->rounding, 0).errors));
  });
  doubles->rows = DoubleRows(rows);
  doubles->proposing = proposing(std::make_shared<const RoundedSource>(rows, doubles->rounding));
  index.store = doubles->proposing->store;
  index.doubles = std::move(doubles);
}

void append_doubles(Index::State& index, const RowsForIndex& more) {
  const FloatGuard guard;
  const DoubleIndex& before = *index.doubles;
  check_chunks(before);
  PreparedDoubles rows = prepared(index, more);
  const RoundedRows rounded = round_rows(index.metric, rows, before.rounding, 0);
  auto all = std::make_shared<DoubleIndex>(before);
  all->largest = std::max(before.largest, rows.largest);
  all->errors.include(largest_errors(rounded.errors));
  const std::int64_t count = rows.rows;
  all->rows.append(std::move(rows), index.device.info());
  if (std::isinf(all->errors.residual))
    return put_prepared_doubles(index, all->rows.gathered({}),
                                IndexOptions(before.placed));  // with another scale
  auto proposing = std::make_shared<Index::State>(*before.proposing);
  proposing->rows += count;
  proposing->numbers = RowNumbers(proposing->rows);
  proposing->store = before.proposing->store->appended(
      *proposing, {more.what, view_of(rounded, index.dims), {}, before.rows.rows()});
  index.store = proposing->store;
  all->proposing = std::move(proposing);
  index.doubles = std::move(all);
}

void keep_doubles(Index::State& index, std::span<const std::int64_t> places) {
  check_chunks(*index.doubles);
  put_prepared_doubles(index, index.doubles->rows.gathered(places), IndexOptions(index.doubles->placed));
}

void finish_doubles(ShownBy shown, RadiusKeys keys, RadiusNeighbors& found) {
  const FloatGuard guard;
  found = {keys.queries, std::move(keys.first), {}, std::move(keys.row), Arithmetic::f64, {}};
  found.distance64.resize(keys.value64.size());
  finish_values(shown, keys.value64, found.distance64.data());
}

}  // namespace kith
