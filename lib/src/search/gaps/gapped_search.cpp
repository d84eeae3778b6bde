#include "search/gaps/gapped_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "device/timing.hpp"
#include "host/parallel.hpp"
#include "metric/chain.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/gaps/gap_rows.hpp"
#include "search/picked/picked_search.hpp"
#include "search/resident/resident_search.hpp"

namespace kith {
namespace {

class GappedSearch : PickedSearch {
 public:
  /// All arguments must outlive this.
  GappedSearch(const ResidentRows& index, const GapRows& gaps, const SearchRequest& request, AnswerSink& sink,
               Trace* trace)
      : PickedSearch(index, request, sink, trace), gaps_(gaps) {}

  /// Learns from some queries how the value of the k-th row follows from the sample.
  void calibrate() {
    constexpr std::int64_t most = 32;
    const PickedQueries queries = tried_queries(most);
    const std::vector<double> sampled = values_in_sample(gaps_.sample(), queries.rows(), queries);
    PickedLists right;
    search_by_chain(index_, queries.rows(), queries, queries.options(), k_, right);
    std::vector<double> ratios;
    for (std::int64_t i = 0; i < queries.count(); ++i) {
      const double ratio = value_at(list_of(queries, right, i), k_) / sampled[size(i)];
      if (std::isfinite(ratio) && ratio > 0) ratios.push_back(ratio);
    }
    if (ratios.empty()) return;
    // A threshold that is too low costs less than one that is too high: certificate.md.
    const auto low = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 4);
    std::nth_element(ratios.begin(), low, ratios.end());
    ratio_ = *low;
  }

  /// Answers queries first, first + 1, ...
  void answer(std::int64_t first, std::int64_t count) {
    begin(first, count);
    const PickedQueries all(request_, numbers_from(first, count));
    std::vector<double> guesses = values_in_sample(gaps_.sample(), all.rows(), all);
    for (double& guess : guesses) guess *= ratio_;
    const auto again = [this](const auto& some, const auto& values) { return propose(some, values); };
    answer_by_chain(propose_again(propose(all, guesses), again), count);
    pass_on();
  }

 private:
  /// Lets products propose, keeps the lists that are complete, and returns the other queries.
  ///   values  about those of the k-th rows, of which the thresholds follow; NaN leaves a query open
  LeftOpen propose(const PickedQueries& queries, const std::vector<double>& values) {
    const std::int64_t cols = gaps_.columns().width(), count = queries.count(),
                       width = gaps_proposed_for(k_, index_.rows, request_.options);
    Floats extended(cells_of(count, cols));
    std::vector<GapQuery> told(size(count));
    parallel_for(count, count * cols, request_.options.threads, [&](std::int64_t i) {
      const double threshold =
          std::isnan(values[size(i)]) ? 0 : gaps_.columns().threshold_of(values[size(i)]);
      told[size(i)] =
          gaps_.columns().extend_query(queries.rows().row(i), threshold, extended.data() + i * cols);
    });
    PickedLists proposed;
    search_some(gaps_.extended(), {extended.data(), count, cols}, queries.options(), width, proposed);
    const Stopwatch ranking;
    std::vector<float> kth(size(count));
    std::vector<unsigned char> open(size(count));
    parallel_for(count, count * width * index_.dims, request_.options.threads, [&](std::int64_t i) {
      open[size(i)] = rank(queries, i, proposed, width, told[size(i)], kth[size(i)]) ? 0 : 1;
    });
    if (trace_) trace_->seconds["rank"] += ranking.seconds();
    LeftOpen left;
    for (std::int64_t i = 0; i < count; ++i)
      if (open[size(i)] != 0) left.add(queries.number(i), kth[size(i)]);
    return left;
  }

  /// Ranks the rows proposed for a query, nearest first, up to one that no neighbour can be behind, and
  /// keeps the nearest. Returns false if others may be as near.
  ///   kth  gets the value of the k-th row, or +infinity
  bool rank(const PickedQueries& queries, std::int64_t i, PickedLists& proposed, std::int64_t width,
            const GapQuery& told, float& kth) {
    if (told.known == 0) return keep(queries.number(i), {});
    const bool is_full = proposed.list(i).size() == size(width) && width < index_.rows;
    const std::span query(queries.rows().row(i), size(index_.dims));
    std::vector<Key> list;  // ascending
    kth = std::numeric_limits<float>::infinity();
    float bound = kth;
    for (const Key key : list_of(queries, proposed, i)) {
      if (value_of(key) > bound) return keep(queries.number(i), list);
      const float value = chain(index_.metric, query, {gaps_.row(row_of(key)), size(index_.dims)});
      const Key ranked = make_key(value, row_of(key));
      if (is_masked(ranked)) continue;
      list.insert(std::upper_bound(list.begin(), list.end(), ranked), ranked);
      if (list.size() > size(k_)) list.pop_back();
      if (list.size() < size(k_) || value_of(list[size(k_ - 1)]) == kth) continue;
      kth = value_of(list[size(k_ - 1)]);
      bound = gaps_.columns().bound(told, kth);
    }
    return !is_full && keep(queries.number(i), list);
  }

  /// Searches for the queries that are still open, by the chain alone.
  ///   count  of the queries that products proposed for
  void answer_by_chain(const std::vector<std::int64_t>& open, std::int64_t count) {
    if (open.empty()) return;
    const bool is_of_all = request_.options.filter.rows() == 0;
    if (is_of_all && 2 * static_cast<std::int64_t>(open.size()) > count && count >= 16) gaps_.tell_loses(k_);
    answer_open(open, true);
  }

  const GapRows& gaps_;
  double ratio_ = 1;  ///< of the value of the k-th of all rows and that in the sample
};

/// Returns how many queries are answered together: their extended forms and lists take some 100 MB.
std::int64_t queries_a_tile(const ResidentRows& index, std::int64_t k) {
  constexpr std::int64_t fewest = 64, most = 1 << 14, numbers = 1 << 24;
  return std::clamp(numbers / std::max(gap_parts * index.dims, 4 * k), fewest, most);
}

}  // namespace

void search_gapped(const ResidentRows& index, const SearchRequest& request, AnswerSink& sink, Trace* trace) {
  const SearchOptions& options = request.options;
  const std::int64_t m = request.m(), at_once = queries_a_tile(index, request.k);
  const Plan plan = plan_gapped(index, m, request.k, options);
  check_rows_left_out("search", index.rows, m, options);
  request.queries.prepare(options.threads);
  if (trace) {
    restart(*trace);
    trace->plan = plan;
  }
  const std::shared_ptr<const GapRows> gaps = gap_rows_with_room(index, options, trace);
  if (!gaps) return static_cast<void>(search_resident(index, request, sink, trace));
  sink.begin(m, request.k);
  if (m == 0) return;
  GappedSearch search(index, *gaps, request, sink, trace);
  {
    const FloatGuard guard;
    search.calibrate();
  }
  for_each_tile(options, m, at_once, trace,
                [&](std::int64_t first, std::int64_t count) { search.answer(first, count); });
}

}  // namespace kith
