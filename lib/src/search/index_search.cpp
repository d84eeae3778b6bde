// Implements the questions to an Index: searches, and their plans.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "device/device_set.hpp"
#include "kith/error.hpp"
#include "kith/index.hpp"
#include "rows/landed/moved_rows.hpp"
#include "rows/mapped_options.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/device_answers.hpp"
#include "search/distinct/distinct_store.hpp"
#include "search/doubles/double_index.hpp"
#include "search/doubles/double_ranking.hpp"
#include "search/doubles/double_rows_of_index.hpp"
#include "search/doubles/double_search.hpp"
#include "search/groups/group_search.hpp"
#include "search/nearest.hpp"
#include "search/stores/counts.hpp"
#include "search/stores/resident_store.hpp"
#include "search/stores/search.hpp"

namespace kith {
namespace {

void check_no_self(std::string_view where, const SearchOptions& options) {
  if (options.self)
    throw Error(Errc::unsupported, std::string(where) + ": self = " + std::to_string(*options.self) +
                                       ", but a row leaves the lists after the merge; search for k + 1 and "
                                       "call leave_out() then");
}

/// Returns the Index of floats that is searched: of an Index in double precision, that which proposes.
const Index::State& searched(const Index::State& index) {
  return index.doubles ? *index.doubles->proposing : index;
}

/// Returns how many neighbours the Index of floats is asked for.
std::int64_t searched_for(const Index::State& index, std::int64_t k, const SearchOptions& options) {
  return index.doubles && k > 0 ? std::max(k, proposed_for(k, index.rows, options)) : k;
}

/// Finds rows within radii, which are floats or doubles, and gives them their numbers.
template <class Radii>
RadiusNeighbors found_within(const Index::State& index, const RowsView& given, Radii radii,
                             const SearchOptions& options, Trace* trace) {
  const MappedOptions mapped("within", index, options, given.rows, std::nullopt);
  RadiusNeighbors found = find_within(index, given, radii, mapped.options(), trace);
  index.numbers.to_numbers(found.row);
  return found;
}

std::vector<std::int64_t> all_counts(const Index::State& index, const RowsView& given,
                                     const CountRadii& radii, const SearchOptions& options, bool totals,
                                     Trace* trace) {
  check_radii_of_counts(totals ? "two_point" : "count", radii, given.rows);
  std::vector<std::int64_t> counts(cells_of(totals ? 1 : given.rows, radii.radius.cols()));
  count_into(index, given, radii, options, totals, counts, trace);
  return counts;
}

/// Builds now what the search `request` would build from the rows and keep, such as quantized rows. Refuses
/// what that search would refuse.
void prepare_store(const RowStore& store, const SearchRequest& request) {
  std::shared_ptr<const ResidentRows> rows;
  if (store.info().residence == Residence::resident) rows = store.resident(request);
  if (rows && !rows->rows_are_bytes) return prepare_resident(*rows, request.m(), request.k, request.options);
  static_cast<void>(store.plan(request.m(), request.k, request.options, {}));  // other stores keep nothing
}

/// Does the same for a part of the rows.
void prepare_part(const RowStore& part, const SearchRequest& request, Trace* trace) {
  if (keeps_distinct_rows(part)) return part.each_part(request, prepare_part, trace);
  SearchRequest of_part = request;
  of_part.k = std::min(request.k, part.rows());
  prepare_store(part, of_part);
}

}  // namespace

Neighbors Index::search(const RowsView& given, std::int64_t k, const SearchOptions& options,
                        Trace* trace) const try {
  Neighbors found;
  search_into(given, k, found, options, trace);
  return found;
} catch (...) {
  rethrow_as_error();
}

void Index::search_into(const RowsView& given, std::int64_t k, Neighbors& found, const SearchOptions& options,
                        Trace* trace) const try {
  const MappedOptions mapped("search", *state_, options, given.rows, k);
  find_nearest(*state_, given, k, mapped.options(), found, trace);
  state_->numbers.to_numbers(found.row);
} catch (...) {
  rethrow_as_error();
}

void Index::search_into(const RowsView& given, std::int64_t k, const DeviceNeighbors& found,
                        const SearchOptions& options, Trace* trace) const try {
  const MappedOptions mapped("search", *state_, options, given.rows, k);
  check_layout("search", "query", given);
  check_k("search", k, state_->live(), options);
  if (given.rows == 0 || state_->doubles || options.radius) {
    // Without queries nothing is written. Doubles are ranked first, and lists are cut first by a radius, and
    // then go there.
    Neighbors ranked;
    std::optional<BorrowedAnswers> answers;
    if (given.rows > 0)
      answers.emplace(*state_, found, static_cast<std::int64_t>(cells_of(given.rows, k)), k);
    find_nearest(*state_, given, k, mapped.options(), ranked, trace);
    if (answers) answers->put_all(std::move(ranked));
    return;
  }
  BorrowedAnswers answers(*state_, found, static_cast<std::int64_t>(cells_of(given.rows, k)), k);
  find_nearest(*state_, given, k, mapped.options(), static_cast<AnswerSink&>(answers), trace);
  const DeviceSession session(*state_->device.state());
  session->finish();
} catch (...) {
  rethrow_as_error();
}

Keys Index::search_keys(const RowsView& given, std::int64_t k, const SearchOptions& options,
                        Trace* trace) const try {
  const FloatGuard guard;
  check_no_self("search_keys", options);
  refuse_groups("search_keys", *state_, "keys of shards do not go by them");
  const MappedOptions mapped("search_keys", *state_, options, given.rows, std::nullopt);
  // The plan refuses k < 1. If all rows are removed, the search for one neighbour finds none.
  const std::int64_t here = k < 1 ? k : std::clamp<std::int64_t>(state_->live(), 1, k);
  Keys keys;
  if (state_->doubles) {
    DoubleKeysSink sink(keys, k, *state_);
    search_doubles(*state_, given, here, mapped.options(), sink, trace);
    if (trace) state_->tell_metric(trace->plan);
    return keys;
  }
  KeysSink sink(keys, k, &*state_);
  const MovedRows queries("search_keys", "query", *state_, given, options);
  kith::search(*state_, queries, here, mapped.options(), sink, trace);
  if (trace) state_->tell_metric(trace->plan);
  return keys;
} catch (...) {
  rethrow_as_error();
}

RadiusNeighbors Index::within(const RowsView& given, std::span<const float> radii,
                              const SearchOptions& options, Trace* trace) const try {
  return found_within(*state_, given, radii, options, trace);
} catch (...) {
  rethrow_as_error();
}

RadiusNeighbors Index::within(const RowsView& given, std::span<const double> radii,
                              const SearchOptions& options, Trace* trace) const try {
  return found_within(*state_, given, radii, options, trace);
} catch (...) {
  rethrow_as_error();
}

std::vector<std::int64_t> Index::count(const RowsView& given, const CountRadii& radii,
                                       const SearchOptions& options, Trace* trace) const try {
  return all_counts(*state_, given, radii, options, false, trace);
} catch (...) {
  rethrow_as_error();
}

std::vector<std::int64_t> Index::two_point(const RowsView& given, const CountRadii& radii,
                                           const SearchOptions& options, Trace* trace) const try {
  return all_counts(*state_, given, radii, options, true, trace);
} catch (...) {
  rethrow_as_error();
}

PairSearch Index::pairs(double radius, const SearchOptions& options) const {
  return {*this, radius, options};
}

RadiusKeys Index::within_keys(const RowsView& given, std::span<const float> radii,
                              const SearchOptions& options, Trace* trace) const try {
  if (state_->doubles) return within_keys(given, doubles_of(radii), options, trace);
  const FloatGuard guard;
  check_no_self("within_keys", options);
  refuse_groups("within_keys", *state_, "keys of shards do not go by them");
  const MappedOptions mapped("within", *state_, options, given.rows, std::nullopt);
  const MovedRows queries("within", "query", *state_, given, options);
  RadiusKeys keys = search_keys_within(*state_, queries, radii, mapped.options(), trace);
  if (trace) state_->tell_metric(trace->plan);
  for (std::int64_t& row : keys.row) row = state_->first_row + state_->numbers.number(row);
  return keys;
} catch (...) {
  rethrow_as_error();
}

RadiusKeys Index::within_keys(const RowsView& given, std::span<const double> radii,
                              const SearchOptions& options, Trace* trace) const try {
  if (!state_->doubles) return within_keys(given, floats_below(radii), options, trace);
  const FloatGuard guard;
  check_no_self("within_keys", options);
  refuse_groups("within_keys", *state_, "keys of shards do not go by them");
  const MappedOptions mapped("within", *state_, options, given.rows, std::nullopt);
  RadiusKeys keys = search_doubles_within(*state_, given, radii, mapped.options(), trace);
  if (trace) state_->tell_metric(trace->plan);
  for (std::int64_t& row : keys.row) row = state_->first_row + state_->numbers.number(row);
  return keys;
} catch (...) {
  rethrow_as_error();
}

void Index::prepare(std::int64_t m, std::int64_t asked, const SearchOptions& options) const try {
  const FloatGuard guard;
  const MappedOptions mapped("search", *state_, options, m, asked);
  if (state_->groups) return prepare_groups(*state_, m, asked, options);
  const State& index = searched(*state_);
  const std::int64_t k = searched_for(*state_, asked, mapped.options());
  if (state_->doubles) prepare_ranker(*state_, mapped.options());
  QuerySet queries(index, m);
  if (!is_set(index.device) && !keeps_distinct_rows(*index.store))
    return prepare_store(*index.store, {queries, mapped.options(), k});
  check_k("search", k, index.rows, mapped.options());
  check_rows_left_out("search", index.rows, m, mapped.options());
  SearchOptions own = mapped.options();
  own.self.reset();
  const SearchRequest all{queries, own, k + (mapped.options().self ? 1 : 0)};
  index.store->each_part(all, prepare_part, nullptr);
} catch (...) {
  rethrow_as_error();
}

Plan Index::plan(std::int64_t m, std::int64_t k, const SearchOptions& options, const Feedback& feedback) const
    try {
  const FloatGuard guard;
  const MappedOptions mapped("search", *state_, options, m, k);
  if (state_->groups) return plan_groups(*state_, m, k, options);
  Plan plan = state_->store->plan(m, searched_for(*state_, k, mapped.options()), mapped.options(), feedback);
  if (state_->doubles) plan.double_chains = double_ranker(*state_, mapped.options()).said();
  state_->tell_metric(plan);
  return plan;
} catch (...) {
  rethrow_as_error();
}

Plan Index::plan(std::int64_t m, std::int64_t k, const SearchOptions& options) const {
  return plan(m, k, options, feedback());
}

Feedback Index::feedback() const try { return state_->store->info().feedback; } catch (...) {
  rethrow_as_error();
}

}  // namespace kith
