// Implements the questions to an Index: searches, and their plans.
#include <algorithm>
#include <optional>
#include <string>

#include "base/border.hpp"
#include "device/device_set.hpp"
#include "kith/error.hpp"
#include "kith/index.hpp"
#include "rows/landed/centred_rows.hpp"
#include "rows/mapped_options.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/device_answers.hpp"
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

/// Builds now what the search `request` would build from the rows and keep, such as quantized rows. Refuses
/// what that search would refuse.
void prepare_store(const RowStore& store, const SearchRequest& request) {
  std::shared_ptr<const ResidentRows> rows;
  if (store.info().residence == Residence::resident) rows = store.resident(request);
  if (rows && !rows->rows_are_bytes) return prepare_resident(*rows, request.m(), request.k, request.options);
  static_cast<void>(store.plan(request.m(), request.k, request.options, {}));  // other stores keep nothing
}

}  // namespace

Neighbors Index::search(const RowsView& given, std::int64_t k, const SearchOptions& options,
                        Trace* trace) const try {
  Neighbors found;
  const MappedOptions mapped("search", *state_, options, given.rows, k);
  const CentredRows queries("search", "query", *state_, given);
  NeighborsSink sink(state_->metric, found);
  kith::search(*state_, queries, k, mapped.options(), sink, trace);
  state_->numbers.to_numbers(found.row);
  return found;
} catch (...) {
  rethrow_as_error();
}

void Index::search_into(const RowsView& given, std::int64_t k, Neighbors& found, const SearchOptions& options,
                        Trace* trace) const try {
  const MappedOptions mapped("search", *state_, options, given.rows, k);
  const CentredRows queries("search", "query", *state_, given);
  NeighborsSink sink(state_->metric, found);
  kith::search(*state_, queries, k, mapped.options(), sink, trace);
  state_->numbers.to_numbers(found.row);
} catch (...) {
  rethrow_as_error();
}

void Index::search_into(const RowsView& given, std::int64_t k, const DeviceNeighbors& found,
                        const SearchOptions& options, Trace* trace) const try {
  const MappedOptions mapped("search", *state_, options, given.rows, k);
  const CentredRows queries("search", "query", *state_, given);
  check_layout("search", "query", queries);
  check_k("search", k, state_->live(), options);
  if (given.rows == 0) {  // nothing is written
    HostSink nobody(state_->metric, nullptr, nullptr);
    return kith::search(*state_, queries, k, mapped.options(), nobody, trace);
  }
  BorrowedAnswers answers(*state_, found, static_cast<std::int64_t>(cells_of(given.rows, k)), k);
  kith::search(*state_, queries, k, mapped.options(), answers, trace);
  const DeviceSession session(*state_->device.state());
  session->finish();
} catch (...) {
  rethrow_as_error();
}

Keys Index::search_keys(const RowsView& given, std::int64_t k, const SearchOptions& options,
                        Trace* trace) const try {
  const CentredRows queries("search_keys", "query", *state_, given);
  check_no_self("search_keys", options);
  const MappedOptions mapped("search_keys", *state_, options, given.rows, std::nullopt);
  // The plan refuses k < 1. If all rows are removed, the search for one neighbour finds none.
  const std::int64_t here = k < 1 ? k : std::clamp<std::int64_t>(state_->live(), 1, k);
  Keys keys;
  KeysSink sink(keys, k, &*state_);
  kith::search(*state_, queries, here, mapped.options(), sink, trace);
  return keys;
} catch (...) {
  rethrow_as_error();
}

RadiusNeighbors Index::within(const RowsView& given, std::span<const float> radii,
                              const SearchOptions& options, Trace* trace) const try {
  const MappedOptions mapped("within", *state_, options, given.rows, std::nullopt);
  const CentredRows queries("within", "query", *state_, given);
  RadiusNeighbors found = search_within(*state_, queries, radii, mapped.options(), trace);
  state_->numbers.to_numbers(found.row);
  return found;
} catch (...) {
  rethrow_as_error();
}

RadiusKeys Index::within_keys(const RowsView& given, std::span<const float> radii,
                              const SearchOptions& options, Trace* trace) const try {
  check_no_self("within_keys", options);
  const MappedOptions mapped("within", *state_, options, given.rows, std::nullopt);
  const CentredRows queries("within", "query", *state_, given);
  RadiusKeys keys = search_keys_within(*state_, queries, radii, mapped.options(), trace);
  for (std::int64_t& row : keys.row) row = state_->first_row + state_->numbers.number(row);
  return keys;
} catch (...) {
  rethrow_as_error();
}

void Index::prepare(std::int64_t m, std::int64_t k, const SearchOptions& options) const try {
  const MappedOptions mapped("search", *state_, options, m, k);
  QuerySet queries(*state_, m);
  if (!is_set(state_->device)) return prepare_store(*state_->store, {queries, mapped.options(), k});
  check_k("search", k, state_->rows, mapped.options());
  check_rows_left_out("search", state_->rows, m, mapped.options());
  SearchOptions own = mapped.options();
  own.self.reset();
  const SearchRequest all{queries, own, k + (mapped.options().self ? 1 : 0)};
  state_->store->each_part(
      all,
      [](const RowStore& part, const SearchRequest& request, Trace*) {
        SearchRequest of_part = request;
        of_part.k = std::min(request.k, part.rows());
        prepare_store(part, of_part);
      },
      nullptr);
} catch (...) {
  rethrow_as_error();
}

Plan Index::plan(std::int64_t m, std::int64_t k, const SearchOptions& options, const Feedback& feedback) const
    try {
  const MappedOptions mapped("search", *state_, options, m, k);
  return state_->store->plan(m, k, mapped.options(), feedback);
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
