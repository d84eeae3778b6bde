#include "search/distinct/distinct_store.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "host/parallel.hpp"
#include "kith/key.hpp"
#include "metric/chain.hpp"
#include "plan/reasons.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/distinct/listed_copies.hpp"
#include "search/lists/trace_sums.hpp"
#include "search/packed/recovered_rows.hpp"
#include "search/packed/stored_on_device.hpp"
#include "search/stores/part_sink.hpp"
#include "search/stores/some_queries.hpp"

namespace kith {
namespace {

constexpr std::int64_t queries_a_task = 64;
constexpr std::int64_t work_a_copy = 4;  // rough work of listing it

}  // namespace

bool keeps_distinct_rows(const RowStore& store) {
  return dynamic_cast<const DistinctStore*>(&store) != nullptr;
}

DistinctStore::DistinctStore(const RowSchema& schema, std::shared_ptr<const RowStore> rows, RowCopies copies,
                             std::int64_t reserve)
    : RowStore(copies.rows(), rows->largest()),
      shown_(schema.shown),
      dims_(schema.dims),
      reserve_(reserve),
      rows_(std::move(rows)),
      copies_(std::move(copies)) {}

/// Returns how many distinct rows are searched for. The k nearest, by value and then by the first copy, have
/// the k nearest rows among their copies: each row before the last of these is or follows a first copy. If a
/// filter takes first copies away, one more tells whether others are as near.
std::int64_t DistinctStore::searched_for(std::int64_t k, const DistinctFilter& filter) const {
  return std::min(filter.changes_order() ? k + 1 : k, copies_.distinct());
}

void DistinctStore::each_part(const SearchRequest& request, const VisitPart& visit, Trace* trace) const {
  const DistinctFilter filter(copies_, request.options.filter);
  SearchOptions own = request.options;
  own.filter = FilterWords(filter.words());
  own.radius.reset();  // lists are cut once copies are listed
  const SearchRequest distinct{request.queries, own, searched_for(request.k, filter), request.radii};
  if (!request.parts)
    visit(*rows_, distinct, trace);
  else if (request.radii)
    find_within(request, distinct, filter, visit, trace);
  else
    find_nearest(request, distinct, filter, visit, trace);
  if (trace) trace->plan.reason += reasons::distinct(copies_.distinct(), rows());
}

void DistinctStore::find_nearest(const SearchRequest& request, const SearchRequest& distinct,
                                 const DistinctFilter& filter, const VisitPart& visit, Trace* trace) const {
  ListMerger merger(buffers());
  SearchRequest own = distinct;
  own.parts = &merger;
  visit(*rows_, own, trace);
  Keys found = merger.keys();
  Keys keys = request.parts->buffer();
  keys.queries = request.m();
  keys.k = request.k;
  const std::size_t cells = cells_of(keys.queries, keys.k);
  keys.value.assign(cells, no_value);
  keys.row.assign(cells, -1);
  const std::vector<std::int64_t> open = list_all(found, filter, keys);
  buffers().put(std::move(found));
  list_open(distinct, filter, open, keys, visit, trace);
  request.parts->take(request, rows(), std::move(keys));
}

/// Lists the copies of all rows of `found`. Returns the queries for which rows that were not found may be as
/// near as the last one, and come before it.
std::vector<std::int64_t> DistinctStore::list_all(const Keys& found, const DistinctFilter& filter,
                                                  Keys& keys) const {
  const std::size_t wide = size(found.k), k = size(keys.k);
  std::vector<unsigned char> is_open(size(keys.queries));
  const auto list = [&](std::int64_t q, std::vector<std::uint32_t>& room) {
    const std::span value = std::span(found.value).subspan(size(q) * wide, wide);
    const std::span row = std::span(found.row).subspan(size(q) * wide, wide);
    std::size_t to = size(q) * k;
    list_copies(copies_, value, row, filter.of_query(q), k, room,
                [&](std::uint32_t nearest, std::uint32_t place) {
                  keys.value[to] = nearest;
                  keys.row[to++] = place;
                });
    const bool all = found.k == copies_.distinct() || row.back() < 0;
    is_open[size(q)] = filter.changes_order(q) && !all && keys.value[size(q + 1) * k - 1] == value.back();
  };
  parallel_for(divide_up(keys.queries, queries_a_task),
               static_cast<std::int64_t>(keys.row.size()) * work_a_copy, 0, [&](std::int64_t task) {
                 std::vector<std::uint32_t> room;
                 const std::int64_t first = task * queries_a_task;
                 for (std::int64_t q = first; q < std::min(first + queries_a_task, keys.queries); ++q)
                   list(q, room);
               });
  std::vector<std::int64_t> open;
  for (std::int64_t q = 0; q < keys.queries; ++q)
    if (is_open[size(q)]) open.push_back(q);
  return open;
}

/// Lists the rows of these queries anew, from all distinct rows that are as near as the last one.
void DistinctStore::list_open(const SearchRequest& distinct, const DistinctFilter& filter,
                              const std::vector<std::int64_t>& open, Keys& keys, const VisitPart& visit,
                              Trace* trace) const {
  constexpr std::int64_t most_found = std::int64_t{1} << 24;
  const std::size_t k = size(keys.k),
                    at_once = size(std::max<std::int64_t>(1, most_found / copies_.distinct()));
  const SearchOptions rest = options_of_rest(distinct.options);
  for (std::size_t first = 0; first < open.size(); first += at_once) {
    const std::size_t behind = std::min(first + at_once, open.size());
    const std::vector<std::int64_t> numbers(open.begin() + static_cast<std::ptrdiff_t>(first),
                                            open.begin() + static_cast<std::ptrdiff_t>(behind));
    std::vector<float> radii;
    {
      const FloatGuard guard;
      for (const std::int64_t q : numbers)
        radii.push_back(finish(shown_, unordered(keys.value[size(q + 1) * k - 1])));
    }
    SomeQueries some({distinct.queries, rest}, numbers);
    ListMerger merger(buffers());
    SearchRequest near{some.queries(), some.options(), 0, radii};
    near.parts = &merger;
    Trace more = trace ? asked_like(*trace) : Trace{};
    visit(*rows_, near, trace ? &more : nullptr);
    if (trace) add_rest(*trace, more);
    const RadiusKeys found = merger.within();
    std::vector<std::uint32_t> room;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::size_t begin = size(found.first[i]), count = size(found.first[i + 1]) - begin;
      std::size_t to = size(numbers[i]) * k;
      list_copies(copies_, std::span(found.value).subspan(begin, count),
                  std::span(found.row).subspan(begin, count), filter.of_query(numbers[i]), k, room,
                  [&](std::uint32_t value, std::uint32_t place) {
                    keys.value[to] = value;
                    keys.row[to++] = place;
                  });
    }
  }
}

void DistinctStore::find_within(const SearchRequest& request, const SearchRequest& distinct,
                                const DistinctFilter& filter, const VisitPart& visit, Trace* trace) const {
  ListMerger merger(buffers());
  SearchRequest own = distinct;
  own.parts = &merger;
  visit(*rows_, own, trace);
  const RadiusKeys found = merger.within();
  RadiusKeys keys;
  keys.queries = found.queries;
  keys.first = {0};
  const auto counted = [&](std::int64_t q, std::int64_t row) {
    const std::uint32_t* const words = filter.of_query(q);
    const auto places = copies_.of(row);
    return words ? std::count_if(places.begin(), places.end(),
                                 [&](std::uint32_t place) { return counts(words, place); })
                 : static_cast<std::ptrdiff_t>(places.size());
  };
  for (std::int64_t q = 0; q < found.queries; ++q) {
    std::int64_t count = keys.first.back();
    for (std::int64_t i = found.first[size(q)]; i < found.first[size(q) + 1]; ++i)
      count += counted(q, found.row[size(i)]);
    keys.first.push_back(count);
  }
  keys.value.resize(size(keys.first.back()));
  keys.row.resize(keys.value.size());
  parallel_for(found.queries, keys.first.back() * work_a_copy, 0, [&](std::int64_t q) {
    const std::size_t begin = size(found.first[size(q)]), count = size(found.first[size(q) + 1]) - begin;
    std::vector<std::uint32_t> room;
    std::size_t to = size(keys.first[size(q)]);
    list_copies(copies_, std::span(found.value).subspan(begin, count),
                std::span(found.row).subspan(begin, count), filter.of_query(q),
                std::numeric_limits<std::size_t>::max(), room, [&](std::uint32_t value, std::uint32_t place) {
                  keys.value[to] = value;
                  keys.row[to++] = place;
                });
  });
  request.parts->take_within(request, std::move(keys));
}

Plan DistinctStore::plan(std::int64_t m, std::int64_t k, const SearchOptions& options,
                         const Feedback& feedback) const {
  check_k("search", k, rows(), options);
  check_rows_left_out("search", rows(), m, options);
  const DistinctFilter filter(copies_, options.filter);
  SearchOptions own = without_self(options);
  own.filter = FilterWords(filter.words());
  Plan plan = rows_->plan(m, searched_for(k + (options.self ? 1 : 0), filter), own, feedback);
  plan.self = options.self;
  plan.reason += reasons::distinct(copies_.distinct(), rows());
  return plan;
}

/// Returns distinct rows in this order. Those that lie near each other are read at once.
std::vector<float> DistinctStore::rows_of(std::span<const std::int64_t> distinct,
                                          std::uint32_t threads) const {
  constexpr std::int64_t most_apart = 1024, most_floats = std::int64_t{1} << 22;
  const std::int64_t most = std::max<std::int64_t>(1, most_floats / dims_);
  std::vector<std::size_t> order(distinct.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return distinct[a] < distinct[b]; });
  std::vector<float> all(cells_of(static_cast<std::int64_t>(distinct.size()), dims_)), some;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const std::int64_t first = distinct[order[begin]];
    const auto joins = [&](std::int64_t row, std::int64_t before) {
      return row - before <= most_apart && row - first < most;
    };
    for (end = begin + 1; end < order.size() && joins(distinct[order[end]], distinct[order[end - 1]]);) ++end;
    const std::int64_t count = distinct[order[end - 1]] - first + 1;
    some.resize(cells_of(count, dims_));
    rows_->read(first, count, some.data(), threads);
    for (std::size_t i = begin; i < end; ++i)
      std::copy_n(some.data() + size((distinct[order[i]] - first) * dims_), dims_,
                  all.data() + order[i] * size(dims_));
  }
  return all;
}

void DistinctStore::read(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const {
  std::vector<std::int64_t> distinct;
  for (std::int64_t place = first; place < first + count; ++place)
    distinct.push_back(copies_.distinct_of(place));
  const std::vector<float> rows = rows_of(distinct, threads);
  std::copy(rows.begin(), rows.end(), to);
}

std::shared_ptr<const RowStore> DistinctStore::appended(const RowSchema& all,
                                                        const RowsForIndex& more) const {
  const RowCopies copies = copies_among(more);
  auto rows = stored(more, copies, rows_->rows(),
                     [&](const RowsForIndex& some) { return rows_->appended(all, some); });
  return std::make_shared<DistinctStore>(all, std::move(rows), copies_.with(copies), reserve_);
}

std::shared_ptr<const RowStore> DistinctStore::subset(const RowSchema& schema,
                                                      std::span<const std::int64_t> places) const {
  auto [copies, kept] = copies_.subset(places);
  const std::vector<float> rows = rows_of(kept, 0);
  const MatrixView<const float> view(rows.data(), copies.distinct(), dims_);
  const float largest = compares_bits(shown_.metric) ? 0 : largest_of_rows(view);
  return std::make_shared<DistinctStore>(schema, stored_on_device(schema, view, largest, reserve_, 0),
                                         std::move(copies), reserve_);
}

}  // namespace kith
