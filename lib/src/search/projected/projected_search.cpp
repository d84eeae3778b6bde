#include "search/projected/projected_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "device/timing.hpp"
#include "host/parallel.hpp"
#include "metric/chain.hpp"
#include "rows/row_filter.hpp"
#include "search/picked/picked_search.hpp"
#include "search/projected/coarse_lists.hpp"
#include "search/projected/projected_ranking.hpp"
#include "search/resident/resident_search.hpp"

namespace kith {
namespace {

/// What the queries of a tile, or some of them, were proposed.
struct Proposed {
  LeftOpen open;
  std::vector<std::int64_t> few;  ///< open queries whose complete lists have fewer than k rows
  std::int64_t unbounded = 0;     ///< open queries whose products have no bound
  std::int64_t asked = 0;         ///< those for which coarse rows were listed
  double listed = 0, ranked = 0;  ///< rows, of all of these
};

class ProjectedSearch : PickedSearch {
 public:
  /// All arguments must outlive this.
  ProjectedSearch(const ResidentRows& index, const ProjectedRows& rows, const SearchRequest& request,
                  AnswerSink& sink, Trace* trace)
      : PickedSearch(index, request, sink, trace), rows_(rows) {}

  /// Learns from some queries how the bound of the k-th value follows from the sample, and whether few rows
  /// are within it. Returns nothing if they do not tell.
  std::optional<ProjectedReach> calibrate() {
    constexpr std::int64_t most = 64;
    const PickedQueries queries = tried_queries(most);
    const Projected projected = project(queries);
    const std::vector<double> sampled = sampled_values(queries, projected);
    PickedLists right;
    search_by_chain(index_, queries.rows(), queries, queries.options(), k_, right);
    std::vector<double> ratios, bounds;
    for (std::int64_t i = 0; i < queries.count(); ++i) {
      const double value =
          is_unbounded(projected, i) ? std::nan("") : value_at(list_of(queries, right, i), k_);
      bounds.push_back(std::isnan(value) ? value : bound(projected, i, static_cast<float>(value)));
      const double ratio = bounds.back() / sampled[size(i)];
      // A query that is one of the rows, or k of them, says nothing of those that are not.
      if (value > 0 && std::isfinite(ratio)) ratios.push_back(ratio);
    }
    if (ratios.empty()) return std::nullopt;
    // A value that is too large costs less than one that is too small, with which a query is asked once more.
    const auto high = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() * 7 / 8);
    std::nth_element(ratios.begin(), high, ratios.end());
    make_lists(plan_projected(index_, queries.count(), k_, request_.options));
    keeps_ = false;
    const Proposed proposed = propose(queries, projected, bounds);
    keeps_ = true;
    const auto count = static_cast<double>(proposed.asked);
    const double listed = proposed.listed / count;
    return ProjectedReach{
        projections_pay(index_, listed, proposed.ranked / count, ranking_ && ranking_->by_bytes()), *high,
        static_cast<std::int64_t>(listed) + 1};
  }

  /// Begins a search with what was learnt. Throws out_of_memory.
  void begin_with(const ProjectedReach& reach, const Plan& plan) {
    reach_ = reach;
    make_lists(plan);
  }

  /// Answers queries first, first + 1, ...
  void answer(std::int64_t first, std::int64_t count) {
    if (!trace_) return answer_tile(first, count);
    // The host's threads are the device, so that all of a tile is its time, with that of searches within.
    const double device_seconds = trace_->device_seconds, queue_seconds = trace_->queue_seconds;
    const Stopwatch answering;
    answer_tile(first, count);
    trace_->device_seconds = device_seconds + answering.seconds();
    trace_->queue_seconds = queue_seconds + answering.seconds();
  }

 private:
  void answer_tile(std::int64_t first, std::int64_t count) {
    begin(first, count);
    if (!reach_.pays) {  // an earlier tile showed it
      answer_open(numbers_from(first, count), false);
      return pass_on();
    }
    const PickedQueries all(request_, numbers_from(first, count));
    const Projected projected = project(all);
    std::vector<double> guesses = sampled_values(all, projected);
    for (std::int64_t i = 0; i < count; ++i)  // less than the bound of 0 says nothing
      guesses[size(i)] = std::max(guesses[size(i)] * reach_.ratio, bound(projected, i, 0));
    Proposed proposed = propose(all, projected, guesses);
    fill_up(proposed.few, proposed.open);
    const std::vector<std::int64_t> open =
        propose_again(std::move(proposed.open), [this](const auto& some, const auto& values) {
          const Projected again = project(some);
          std::vector<double> bounds(values.size());
          for (std::size_t i = 0; i < values.size(); ++i)
            bounds[i] = bound(again, static_cast<std::int64_t>(i), static_cast<float>(values[i]));
          return propose(some, again, bounds).open;
        });
    learn(count - proposed.unbounded, static_cast<std::int64_t>(open.size()) - proposed.unbounded);
    if (!open.empty()) answer_open(open, false);
    pass_on();
  }

  void make_lists(const Plan& plan) {
    ranking_.reset();
    coarse_.reset();
    plan_ = plan;
    coarse_.emplace(rows_.coarse(), plan_);
    ranking_.emplace(index_, rows_, *coarse_, k_, request_.options.threads);
  }

  Projected project(const PickedQueries& queries) {
    const Stopwatch projecting;
    Projected projected = rows_.projection().project(queries.rows(), request_.options.threads);
    if (trace_) trace_->seconds["project"] += projecting.seconds();
    if (has_bound(rows_.coarse(), Proposer::dot, largest_of(projected.coarse))) return projected;
    for (std::int64_t i = 0; i < queries.count(); ++i) {
      const std::span coarse =
          std::span(projected.coarse).subspan(size(i * coarse_columns), size(coarse_columns));
      if (has_bound(rows_.coarse(), Proposer::dot, largest_of(coarse))) continue;
      std::fill(coarse.begin(), coarse.end(), 0.0f);
      projected.norms[size(i)] = std::numeric_limits<double>::infinity();
    }
    return projected;
  }

  /// Returns whether nothing bounds the products of a query; project() marks it.
  static bool is_unbounded(const Projected& projected, std::int64_t i) {
    return std::isinf(projected.norms[size(i)]);
  }

  double bound(const Projected& projected, std::int64_t i, float value) const {
    return static_cast<double>(rows_.projection().bound(projected.norms[size(i)], value, coarse_columns));
  }

  std::vector<double> sampled_values(const PickedQueries& queries, const Projected& projected) {
    return values_in_sample(rows_.sample(), {projected.coarse.data(), queries.count(), coarse_columns},
                            queries);
  }

  /// Lets coarse rows propose, keeps the answers that are certain, and returns the other queries.
  ///   values  up to which coarse rows are listed; NaN leaves a query open
  Proposed propose(const PickedQueries& queries, const Projected& projected,
                   const std::vector<double>& values) {
    Proposed proposed;
    const std::int64_t count = queries.count();
    for (std::int64_t first = 0; first < count; first += plan_.query_tile)
      propose_some(queries, projected, values, first, std::min(plan_.query_tile, count - first), proposed);
    return proposed;
  }

  void propose_some(const PickedQueries& queries, const Projected& projected,
                    const std::vector<double>& values, std::int64_t first, std::int64_t count,
                    Proposed& proposed) {
    std::vector<float> most(size(count));
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = values[size(first + i)];
      const bool asks = !std::isnan(value) && !is_unbounded(projected, first + i);
      most[size(i)] = static_cast<float>(asks ? std::min(value, largest_float) : -largest_float);
      if (asks) ++proposed.asked;
    }
    const Stopwatch listing;
    const SearchOptions options = queries.options();
    ProjectedLists lists{queries, first, count, projected, options.filter, {}, {}};
    lists.places =
        coarse_->list({projected.coarse.data() + first * coarse_columns, count, coarse_columns}, most);
    lists.low = coarse_->lows();
    const double listed_seconds = listing.seconds();
    const Stopwatch ranking;
    const std::span<const Key> found = ranking_->nearest(lists);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t number = queries.number(first + i);
      proposed.listed += lists.places.lengths[size(i)];
      if (is_unbounded(projected, first + i)) {
        ++proposed.unbounded;
        proposed.open.add(number, std::numeric_limits<float>::infinity());
        continue;
      }
      judge(
          number, found.subspan(size(i * k_), size(k_)), lists.places.lengths[size(i)] <= coarse_->capacity(),
          [&](float value) {
            return bound(projected, first + i, value) <= static_cast<double>(most[size(i)]);
          },
          proposed);
    }
    proposed.ranked += static_cast<double>(ranking_->ranked());
    if (!trace_) return;
    trace_->seconds["collect"] += listed_seconds;
    trace_->seconds["rank"] += ranking.seconds();
    trace_->collected += ranking_->ranked();
    for (const std::uint32_t length : lists.places.lengths) trace_->listed += length;
  }

  /// Keeps what was found for a query, and leaves it open if others may be as near.
  ///   complete  whether the list has all rows that were asked for
  ///   within    tells whether these are all rows of at most a value
  template <class Within>
  void judge(std::int64_t number, std::span<const Key> found, bool complete, const Within& within,
             Proposed& proposed) {
    if (keeps_) keep(number, found);
    const bool has_all = found.back() != no_key;
    const float value = has_all ? value_of(found.back()) : std::numeric_limits<float>::infinity();
    if (has_all && complete && within(value)) return;
    proposed.open.add(number, value);
    if (!has_all && complete) proposed.few.push_back(number);
  }

  /// Gives values to open queries for which fewer than k rows were found: with near rows of the sample, which
  /// are rows like others, these are k, so that the k-th of all is at most as far as the farthest.
  void fill_up(const std::vector<std::int64_t>& few, LeftOpen& open) {
    if (few.empty()) return;
    const PickedQueries queries(request_, few);
    const Projected projected = project(queries);
    PickedLists near;
    search_sample(rows_.sample(), {projected.coarse.data(), queries.count(), coarse_columns}, queries, k_,
                  near);
    parallel_for(
        queries.count(), queries.count() * k_ * index_.dims, request_.options.threads, [&](std::int64_t i) {
          const auto at = std::lower_bound(open.numbers.begin(), open.numbers.end(), queries.number(i));
          open.values[size(at - open.numbers.begin())] =
              filled_value(queries, i, list_in_sample(queries, near, i));
        });
  }

  /// Returns the farthest of the rows found for a query and the nearest others of the sample, k in all;
  /// +infinity: there are too few.
  float filled_value(const PickedQueries& queries, std::int64_t i, std::span<const Key> near) const {
    std::span<const Key> found = kept(queries.number(i));
    found = found.first(size(std::find(found.begin(), found.end(), no_key) - found.begin()));
    std::size_t count = found.size();
    float farthest = found.empty() ? 0 : value_of(found.back());
    const std::size_t dims = size(index_.dims);
    for (const Key key : near) {
      if (count == size(k_)) break;
      const std::int64_t place = row_of(key) * picked_sample_stride;
      if (std::any_of(found.begin(), found.end(), [place](Key own) { return row_of(own) == place; }))
        continue;
      farthest = std::max(farthest, chain(index_.metric, std::span(queries.rows().row(i), dims),
                                          {rows_.rows() + size(place) * dims, dims}));
      ++count;
    }
    return count == size(k_) ? farthest : std::numeric_limits<float>::infinity();
  }

  static float largest_of(std::span<const float> values) {
    float largest = 0;
    for (const float value : values) largest = std::max(largest, std::fabs(value));
    return largest;
  }

  /// Stops if most of a tile was left open, and records that if other searches are alike.
  void learn(std::int64_t count, std::int64_t open) {
    if (count < 16 || 2 * open <= count) return;
    reach_.pays = false;
    if (counts_most_rows(index_, request_.options)) rows_.reaches()->fail(k_);
  }

  static constexpr double largest_float = static_cast<double>(std::numeric_limits<float>::max());

  const ProjectedRows& rows_;
  ProjectedReach reach_;
  Plan plan_;
  bool keeps_ = true;  ///< answers
  std::optional<CoarseLists> coarse_;
  std::optional<ProjectedRanking> ranking_;
};

/// Returns a search that has begun with what is known, or is learnt now; null if projections do not pay, or
/// lack room.
///   plan  gets its plan
std::unique_ptr<ProjectedSearch> begun_search(const ResidentRows& index, const ProjectedRows& rows,
                                              const SearchRequest& request, AnswerSink& sink, Trace* trace,
                                              Plan& plan) {
  const FloatGuard guard;
  try {
    auto search = std::make_unique<ProjectedSearch>(index, rows, request, sink, trace);
    std::optional<ProjectedReach> reach = rows.reaches()->reach(request.k);
    if (!reach) {
      reach = search->calibrate();
      if (reach && counts_most_rows(index, request.options)) rows.reaches()->tell(request.k, *reach);
    }
    if (!reach || !reach->pays) return nullptr;
    plan = plan_projected(index, request.m(), request.k, request.options);
    search->begin_with(*reach, plan);
    return search;
  } catch (const Error& error) {
    if (!lacks_room(error)) throw;
  } catch (const std::bad_alloc&) {
  }
  return nullptr;
}

}  // namespace

void search_projected(const ResidentRows& index, const SearchRequest& request, AnswerSink& sink,
                      Trace* trace) {
  const SearchOptions& options = request.options;
  const std::int64_t m = request.m(), k = request.k;
  check_k("search", k, index.rows, options);
  check_rows_left_out("search", index.rows, m, options);
  request.queries.prepare(options.threads);
  if (trace) restart(*trace);
  Plan plan;
  const Watcher watcher(options, 1);  // until steps begin
  watcher.check_stop();
  auto rows = projected_rows_with_room(index, options.threads, trace);
  watcher.check_stop();
  const auto search = rows ? begun_search(index, *rows, request, sink, trace, plan) : nullptr;
  if (!search) {
    rows.reset();
    release_useless(index, k);
    return static_cast<void>(search_resident(index, request, sink, trace));
  }
  if (trace) trace->plan = plan;
  sink.begin(m, k);
  for_each_tile(options, m, plan.query_tile, trace,
                [&](std::int64_t first, std::int64_t count) { search->answer(first, count); });
  release_useless(index, k);
}

}  // namespace kith
