#include "search/gaps/gapped_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "device/timing.hpp"
#include "device/watcher.hpp"
#include "host/parallel.hpp"
#include "metric/chain.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/gaps/gap_queries.hpp"
#include "search/gaps/gap_rows.hpp"
#include "search/lists/trace_sums.hpp"
#include "search/resident/resident_search.hpp"

namespace kith {
namespace {

/// Returns the numbers first, first + stride, ...
std::vector<std::int64_t> numbers_from(std::int64_t first, std::int64_t count, std::int64_t stride = 1) {
  std::vector<std::int64_t> numbers(size(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = first + static_cast<std::int64_t>(i) * stride;
  return numbers;
}

/// Queries whose lists may lack a row, and their k-th values so far, or +infinity.
struct OpenGaps {
  std::vector<std::int64_t> numbers;
  std::vector<float> values;

  void add(std::int64_t number, float value) {
    numbers.push_back(number);
    values.push_back(value);
  }
};

class GappedSearch {
 public:
  /// All arguments must outlive this.
  GappedSearch(const ResidentRows& index, const GapRows& gaps, const SearchRequest& request, AnswerSink& sink,
               Trace* trace)
      : index_(index), gaps_(gaps), request_(request), k_(request.k), sink_(sink), trace_(trace) {}

  /// Learns from some queries how the value of the k-th row follows from the sample.
  void calibrate() {
    constexpr std::int64_t most = 32, queries_a_tried = 16;
    const std::int64_t m = request_.m(), tried = std::min(most, divide_up(m, queries_a_tried));
    const GapQueries queries(request_, numbers_from(0, tried, m / std::max<std::int64_t>(tried, 1)));
    const std::vector<double> sampled = values_in_sample(queries);
    GapLists right;
    search_by_chain(index_, queries, queries.options(), k_, right);
    std::vector<double> ratios;
    for (std::int64_t i = 0; i < tried; ++i) {
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
    first_ = first;
    answers_.resize(cells_of(count, k_));
    const GapQueries all(request_, numbers_from(first, count));
    std::vector<double> guesses = values_in_sample(all);
    for (double& guess : guesses) guess *= ratio_;
    OpenGaps open = propose(all, guesses);
    if (!open.numbers.empty()) open = propose_again(std::move(open));
    answer_by_chain(open, count);
    pass_on(count);
  }

 private:
  static double value_at(std::span<const Key> list, std::int64_t k) {
    const bool is_there = static_cast<std::int64_t>(list.size()) >= k;
    return is_there ? static_cast<double>(value_of(list[size(k - 1)])) : std::nan("");
  }

  static std::span<const Key> list_of(const GapQueries& queries, GapLists& lists, std::int64_t i) {
    return queries.leaves_own() ? lists.list_without(i, queries.own(i)) : lists.list(i);
  }

  /// Finds the k nearest of these rows, and one more where a query may find itself.
  void search_by_chain(const ResidentRows& rows, const GapQueries& queries, SearchOptions way, std::int64_t k,
                       GapLists& to) {
    way.proposer = Proposer::none;
    search_some(rows, queries.rows(), way, std::min(k + (queries.leaves_own() ? 1 : 0), rows.rows), to);
  }

  void search_some(const ResidentRows& rows, MatrixView<const float> some, const SearchOptions& way,
                   std::int64_t k, GapLists& to) {
    float largest = 0;
    if (rows.metric == Metric::negative_dot)
      for (std::int64_t i = 0; i < some.rows() * some.cols(); ++i)
        largest = std::max(largest, std::fabs(some.data()[i]));
    QuerySet queries(RowsView(some), some, largest);
    Trace more = trace_ ? asked_like(*trace_) : Trace{};
    search_resident(rows, {queries, way, k}, to, trace_ ? &more : nullptr);
    if (trace_) add_rest(*trace_, more);
  }

  /// Returns the value of a near row of the sample for each query; NaN: there are too few.
  std::vector<double> values_in_sample(const GapQueries& queries) {
    constexpr std::int64_t fewest = 8;
    const std::int64_t k = std::max(fewest, divide_up(k_, gap_sample_stride));
    SearchOptions way = queries.options();
    const std::vector<std::uint32_t> words = words_of_sample(way.filter);
    if (!words.empty()) way.filter = {words.data(), way.filter.rows(), words_of_filter(gaps_.sample().rows)};
    GapLists near;
    search_by_chain(gaps_.sample(), queries, way, k, near);
    std::vector<double> values;
    for (std::int64_t i = 0; i < queries.count(); ++i) {
      const bool own = queries.leaves_own() && queries.own(i) % gap_sample_stride == 0;
      values.push_back(value_at(own ? near.list_without(i, queries.own(i) / gap_sample_stride) : near.list(i),
                                std::min(k, gaps_.sample().rows)));
    }
    return values;
  }

  /// Returns the filter of the rows of the sample, each of which has the lowest bit of a word.
  std::vector<std::uint32_t> words_of_sample(MatrixView<const std::uint32_t> filter) const {
    const std::int64_t of_sample = words_of_filter(gaps_.sample().rows);
    std::vector<std::uint32_t> words(cells_of(filter.rows(), filter.rows() > 0 ? of_sample : 0));
    for (std::int64_t f = 0; f < filter.rows(); ++f)
      for (std::int64_t i = 0; i < gaps_.sample().rows; ++i)
        words[size(f * of_sample + i / 32)] |= (filter(f, i) & 1u) << i % 32;
    return words;
  }

  /// Lets products propose, keeps the lists that are complete, and returns the other queries.
  ///   values  about those of the k-th rows, of which the thresholds follow; NaN leaves a query open
  OpenGaps propose(const GapQueries& queries, const std::vector<double>& values) {
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
    GapLists proposed;
    search_some(gaps_.extended(), {extended.data(), count, cols}, queries.options(), width, proposed);
    const Stopwatch ranking;
    std::vector<float> kth(size(count));
    std::vector<unsigned char> open(size(count));
    parallel_for(count, count * width * index_.dims, request_.options.threads, [&](std::int64_t i) {
      open[size(i)] = rank(queries, i, proposed, width, told[size(i)], kth[size(i)]) ? 0 : 1;
    });
    if (trace_) trace_->seconds["rank"] += ranking.seconds();
    OpenGaps left;
    for (std::int64_t i = 0; i < count; ++i)
      if (open[size(i)] != 0) left.add(queries.number(i), kth[size(i)]);
    return left;
  }

  /// Ranks the rows proposed for a query, nearest first, up to one that no neighbour can be behind, and
  /// keeps the nearest. Returns false if others may be as near.
  ///   kth  gets the value of the k-th row, or +infinity
  bool rank(const GapQueries& queries, std::int64_t i, GapLists& proposed, std::int64_t width,
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

  /// Keeps the first k of a list as the answer of a query, and returns true.
  bool keep(std::int64_t query, std::span<const Key> list) {
    const auto to = answers_.begin() + static_cast<std::ptrdiff_t>((query - first_) * k_);
    const std::size_t found = std::min(list.size(), size(k_));
    std::fill_n(std::copy_n(list.begin(), found, to), size(k_) - found, no_key);
    return true;
  }

  /// Passes the answers on.
  void pass_on(std::int64_t count) {
    if (sink_.takes_lists()) return sink_.put_lists(first_, answers_, size(k_));
    parallel_for(count, count * k_, request_.options.threads, [&](std::int64_t q) {
      sink_.put(first_ + q, std::span(answers_).subspan(size(q * k_), size(k_)));
    });
  }

  /// Lets products propose once more, with thresholds that rows which were found give.
  OpenGaps propose_again(OpenGaps open) {
    OpenGaps again, left;
    for (std::size_t i = 0; i < open.numbers.size(); ++i)
      (std::isfinite(open.values[i]) ? again : left).add(open.numbers[i], open.values[i]);
    if (again.numbers.empty()) return left;
    if (trace_) trace_->repeats += static_cast<std::int64_t>(again.numbers.size());
    const std::vector<double> values(again.values.begin(), again.values.end());
    const OpenGaps still = propose(GapQueries(request_, again.numbers), values);
    for (std::size_t i = 0; i < still.numbers.size(); ++i) left.add(still.numbers[i], still.values[i]);
    std::sort(left.numbers.begin(), left.numbers.end());
    return left;
  }

  /// Searches for the queries that are still open, by the chain alone.
  ///   count  of the queries that products proposed for
  void answer_by_chain(const OpenGaps& open, std::int64_t count) {
    if (open.numbers.empty()) return;
    const GapQueries queries(request_, open.numbers);
    const bool is_of_all = request_.options.filter.rows() == 0;
    if (is_of_all && 2 * queries.count() > count && count >= 16) gaps_.tell_loses(k_);
    GapLists found;
    search_by_chain(index_, queries, queries.options(), k_, found);
    for (std::int64_t i = 0; i < queries.count(); ++i) keep(queries.number(i), list_of(queries, found, i));
    if (trace_) trace_->fallbacks += queries.count();
  }

  const ResidentRows& index_;
  const GapRows& gaps_;
  const SearchRequest& request_;
  const std::int64_t k_;
  AnswerSink& sink_;
  Trace* const trace_;
  std::int64_t first_ = 0;    ///< of the queries that are being answered
  std::vector<Key> answers_;  ///< of these, [, k]
  double ratio_ = 1;          ///< of the value of the k-th of all rows and that in the sample
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
  const auto guarded = [](const auto& work) {
    const FloatGuard guard;
    work();
  };
  guarded([&] { search.calibrate(); });
  Watcher watcher(options, divide_up(m, at_once));
  for (std::int64_t first = 0; first < m; first += at_once) {
    guarded([&] { search.answer(first, std::min(at_once, m - first)); });
    watcher.step_done();
  }
  if (trace) trace->query_tiles = divide_up(m, at_once);
}

}  // namespace kith
