#include "search/projected/projected_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/numbers.hpp"
#include "device/timing.hpp"
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
  double listed = 0, ranked = 0;  ///< rows a query
};

class ProjectedSearch : PickedSearch {
 public:
  /// All arguments must outlive this.
  ProjectedSearch(const ResidentRows& index, const ProjectedRows& rows, const SearchRequest& request,
                  AnswerSink& sink, Trace* trace)
      : PickedSearch(index, request, sink, trace), rows_(rows) {}

  /// Learns from some queries how the bound of the k-th value follows from the sample, and whether few rows
  /// are within it.
  ProjectedReach calibrate() {
    constexpr std::int64_t most = 64;
    const PickedQueries queries = tried_queries(most);
    const Projected projected = project(queries);
    const std::vector<double> sampled = sampled_values(queries, projected);
    PickedLists right;
    search_by_chain(index_, queries.rows(), queries, queries.options(), k_, right);
    std::vector<double> ratios, bounds;
    for (std::int64_t i = 0; i < queries.count(); ++i) {
      const double value = value_at(list_of(queries, right, i), k_);
      bounds.push_back(std::isnan(value) ? value : bound(projected, i, static_cast<float>(value)));
      const double ratio = bounds.back() / sampled[size(i)];
      if (std::isfinite(ratio) && ratio > 0) ratios.push_back(ratio);
    }
    ProjectedReach reach;
    if (ratios.empty()) return reach;
    // A value that is too large costs less than one that is too small, with which a query is asked once more.
    const auto high = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() * 7 / 8);
    std::nth_element(ratios.begin(), high, ratios.end());
    reach.ratio = *high;
    begin(0, request_.m());  // the answers of these queries are overwritten
    plan_ = plan_projected(index_, queries.count(), k_, request_.options);
    const Proposed proposed = propose(queries, projected, bounds);
    reach.listed = static_cast<std::int64_t>(proposed.listed) + 1;
    reach.pays = projections_pay(index_, proposed.listed, proposed.ranked, ranking_ && ranking_->by_bytes());
    return reach;
  }

  /// Begins a search with what was learnt.
  void begin_with(const ProjectedReach& reach, const Plan& plan) {
    reach_ = reach;
    plan_ = plan;
    ranking_.reset();
    coarse_.reset();
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
    const PickedQueries all(request_, numbers_from(first, count));
    if (!reach_.pays) {  // an earlier tile showed it
      answer_open(numbers_from(first, count), false);
      return pass_on();
    }
    const Projected projected = project(all);
    std::vector<double> guesses = sampled_values(all, projected);
    for (double& guess : guesses) guess *= reach_.ratio;
    const std::vector<std::int64_t> open =
        propose_again(propose(all, projected, guesses).open, [this](const auto& some, const auto& values) {
          const Projected again = project(some);
          std::vector<double> bounds(values.size());
          for (std::size_t i = 0; i < values.size(); ++i)
            bounds[i] = bound(again, static_cast<std::int64_t>(i), static_cast<float>(values[i]));
          return propose(some, again, bounds).open;
        });
    learn(count, static_cast<std::int64_t>(open.size()));
    if (!open.empty()) answer_open(open, false);
    pass_on();
  }

  Projected project(const PickedQueries& queries) {
    const Stopwatch projecting;
    Projected projected = rows_.projection().project(queries.rows(), request_.options.threads);
    if (trace_) trace_->seconds["project"] += projecting.seconds();
    return projected;
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
    const float largest = largest_of(projected);
    if (!has_bound(rows_.coarse(), Proposer::dot, largest)) {
      for (std::int64_t i = 0; i < count; ++i)
        proposed.open.add(queries.number(i), std::numeric_limits<float>::infinity());
      return proposed;
    }
    if (!coarse_) {
      coarse_.emplace(rows_.coarse(), plan_);
      ranking_.emplace(index_, rows_, *coarse_, k_, request_.options.threads);
    }
    for (std::int64_t first = 0; first < count; first += plan_.query_tile)
      propose_some(queries, projected, values, first, std::min(plan_.query_tile, count - first), proposed);
    proposed.listed /= static_cast<double>(count);
    proposed.ranked /= static_cast<double>(count);
    return proposed;
  }

  void propose_some(const PickedQueries& queries, const Projected& projected,
                    const std::vector<double>& values, std::int64_t first, std::int64_t count,
                    Proposed& proposed) {
    std::vector<float> most(size(count));
    for (std::size_t i = 0; i < most.size(); ++i) {
      const double value = values[size(first) + i];
      most[i] = std::isnan(value) ? -1 : static_cast<float>(std::min(value, largest_float));
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
      const std::span<const Key> own = found.subspan(size(i * k_), size(k_));
      const std::uint32_t listed = lists.places.lengths[size(i)];
      proposed.listed += listed;
      const bool has_all = own.back() != no_key;
      const float value = has_all ? value_of(own.back()) : std::numeric_limits<float>::infinity();
      const bool is_certain = has_all && listed <= coarse_->capacity() &&
                              bound(projected, first + i, value) <= static_cast<double>(most[size(i)]);
      if (is_certain)
        keep(queries.number(first + i), own);
      else
        proposed.open.add(queries.number(first + i), value);
    }
    proposed.ranked += static_cast<double>(ranking_->ranked());
    if (!trace_) return;
    trace_->seconds["collect"] += listed_seconds;
    trace_->seconds["rank"] += ranking.seconds();
    trace_->collected += ranking_->ranked();
    for (const std::uint32_t length : lists.places.lengths) trace_->listed += length;
  }

  float largest_of(const Projected& projected) const {
    float largest = 0;
    for (const float value : projected.coarse) largest = std::max(largest, std::fabs(value));
    return largest;
  }

  /// Records that projections do not pay if most of a tile was left open.
  void learn(std::int64_t count, std::int64_t open) {
    const bool is_of_all = request_.options.filter.rows() == 0;
    if (!is_of_all || count < 16 || 2 * open <= count) return;
    reach_.pays = false;
    rows_.tell_reach(k_, reach_);
  }

  static constexpr double largest_float = static_cast<double>(std::numeric_limits<float>::max());

  const ProjectedRows& rows_;
  ProjectedReach reach_;
  Plan plan_;
  std::optional<CoarseLists> coarse_;
  std::optional<ProjectedRanking> ranking_;
};

}  // namespace

void search_projected(const ResidentRows& index, const SearchRequest& request, AnswerSink& sink,
                      Trace* trace) {
  const SearchOptions& options = request.options;
  const std::int64_t m = request.m(), k = request.k;
  check_k("search", k, index.rows, options);
  check_rows_left_out("search", index.rows, m, options);
  request.queries.prepare(options.threads);
  if (trace) restart(*trace);
  const auto rows = projected_rows_with_room(index, options.threads, trace);
  std::optional<ProjectedReach> reach = rows ? rows->reach(k) : ProjectedReach{};
  std::optional<ProjectedSearch> search;
  if (rows) search.emplace(index, *rows, request, sink, trace);
  if (!reach) {
    const FloatGuard guard;
    reach = search->calibrate();
    if (options.filter.rows() == 0) rows->tell_reach(k, *reach);
  }
  if (!reach->pays) return static_cast<void>(search_resident(index, request, sink, trace));
  const Plan plan = plan_projected(index, m, k, options);
  if (trace) trace->plan = plan;
  sink.begin(m, k);
  search->begin_with(*reach, plan);
  for_each_tile(options, m, plan.query_tile, trace,
                [&](std::int64_t first, std::int64_t count) { search->answer(first, count); });
}

}  // namespace kith
