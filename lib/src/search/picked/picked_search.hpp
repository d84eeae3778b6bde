// A search in which something lists rows for picked queries, and the host ranks these rows by the chain.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "device/watcher.hpp"
#include "kith/error.hpp"
#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/resident_rows.hpp"
#include "search/picked/picked_queries.hpp"
#include "search/resident/answer_sink.hpp"
#include "search/resident/search_request.hpp"

namespace kith {

/// One row in so many is in a sample: bit 0 of each word of a filter.
inline constexpr std::int64_t picked_sample_stride = 32;

/// Returns whether the caller leaves it to kith how to search.
bool leaves_way_open(const SearchOptions& options);

/// Returns whether the ordinary way may have room for what this error refused: memory or a step.
inline bool lacks_room(const Error& error) {
  return error.code() == Errc::out_of_memory || error.code() == Errc::unsupported;
}

/// Returns whether plan() proposes, and is refused neither memory nor a step.
template <class MakePlan>
bool plans_to_propose(const MakePlan& plan) {
  try {
    return plan().proposer != Proposer::none;
  } catch (const Error& error) {
    if (!lacks_room(error)) throw;
    return false;
  }
}

/// Returns the numbers first, first + stride, ...
std::vector<std::int64_t> numbers_from(std::int64_t first, std::int64_t count, std::int64_t stride = 1);

/// Returns the rows of the sample, as places.
std::vector<std::int64_t> places_of_sample(std::int64_t rows);

/// Queries that may lack a neighbour, and their k-th values so far, or +infinity.
struct LeftOpen {
  std::vector<std::int64_t> numbers;
  std::vector<float> values;

  void add(std::int64_t number, float value) {
    numbers.push_back(number);
    values.push_back(value);
  }
  /// Takes those out that have a value.
  LeftOpen with_value();
};

class PickedSearch {
 public:
  PickedSearch(const PickedSearch&) = delete;
  PickedSearch& operator=(const PickedSearch&) = delete;

 protected:
  /// All arguments must outlive this.
  PickedSearch(const ResidentRows& index, const SearchRequest& request, AnswerSink& sink, Trace* trace)
      : index_(index), request_(request), k_(request.k), sink_(sink), trace_(trace) {}
  ~PickedSearch() = default;

  /// Returns the k-th value of a list; NaN if it is shorter.
  static double value_at(std::span<const Key> list, std::int64_t k);
  /// Returns the list of query i without its own row.
  static std::span<const Key> list_of(const PickedQueries& queries, PickedLists& lists, std::int64_t i) {
    return queries.leaves_own() ? lists.list_without(i, queries.own(i)) : lists.list(i);
  }
  /// Returns some of the queries of the request, at equal distances, of which others are learnt.
  PickedQueries tried_queries(std::int64_t most) const;

  /// Finds the k nearest of these rows, and one more where a query may find itself.
  void search_nearest(const ResidentRows& rows, MatrixView<const float> some, const PickedQueries& queries,
                      SearchOptions way, std::int64_t k, PickedLists& to);
  /// Does the same by the chain alone.
  void search_by_chain(const ResidentRows& rows, MatrixView<const float> some, const PickedQueries& queries,
                       SearchOptions way, std::int64_t k, PickedLists& to);
  void search_some(const ResidentRows& rows, MatrixView<const float> some, const SearchOptions& way,
                   std::int64_t k, PickedLists& to);
  /// Finds the k nearest rows of the sample by the chain. Their lists have places in the sample.
  ///   some  the queries as the sample has its rows
  void search_sample(const ResidentRows& sample, MatrixView<const float> some, const PickedQueries& queries,
                     std::int64_t k, PickedLists& to);
  /// Returns the list of query i without its own row.
  static std::span<const Key> list_in_sample(const PickedQueries& queries, PickedLists& lists,
                                             std::int64_t i);
  /// Returns the value of a near row of the sample for each query; NaN: there are too few.
  std::vector<double> values_in_sample(const ResidentRows& sample, MatrixView<const float> some,
                                       const PickedQueries& queries);

  /// Begins with the answers of queries first, first + 1, ...
  void begin(std::int64_t first, std::int64_t count);
  /// Keeps the first k of a list as the answer of a query, and returns true.
  bool keep(std::int64_t query, std::span<const Key> list);
  /// Returns what was kept, padded with no_key.
  std::span<const Key> kept(std::int64_t query) const {
    return std::span(answers_).subspan(size((query - first_) * k_), size(k_));
  }
  /// Passes the answers on.
  void pass_on();
  /// Lets those open queries be asked once more whose values rows give that were found. Returns the numbers
  /// of those that are open still.
  ///   propose  takes PickedQueries and their values, and returns LeftOpen
  template <class Propose>
  std::vector<std::int64_t> propose_again(LeftOpen open, const Propose& propose) {
    const LeftOpen again = open.with_value();
    std::vector<std::int64_t> left = std::move(open.numbers);
    if (again.numbers.empty()) return left;
    const std::vector<double> values(again.values.begin(), again.values.end());
    const LeftOpen still = propose(PickedQueries(request_, again.numbers), values);
    if (trace_) trace_->repeats += static_cast<std::int64_t>(again.numbers.size() - still.numbers.size());
    left.insert(left.end(), still.numbers.begin(), still.numbers.end());
    std::sort(left.begin(), left.end());
    return left;
  }
  /// Searches for open queries, by the chain alone or as kith would search otherwise, and keeps the answers.
  void answer_open(const std::vector<std::int64_t>& open, bool by_chain);

  const ResidentRows& index_;
  const SearchRequest& request_;
  const std::int64_t k_;
  AnswerSink& sink_;
  Trace* const trace_;

 private:
  std::vector<std::uint32_t> words_of_sample(MatrixView<const std::uint32_t> filter, std::int64_t rows) const;

  std::int64_t first_ = 0;    ///< of the queries that are being answered
  std::vector<Key> answers_;  ///< of these, [, k]
};

/// Calls answer(first, count) for tiles of `at_once` of m queries, each under a FloatGuard.
///   watched  options of the caller
template <class Answer>
void for_each_tile(const SearchOptions& watched, std::int64_t m, std::int64_t at_once, Trace* trace,
                   const Answer& answer) {
  Watcher watcher(watched, divide_up(m, at_once));
  for (std::int64_t first = 0; first < m; first += at_once) {
    {
      const FloatGuard guard;
      answer(first, std::min(at_once, m - first));
    }
    watcher.step_done();
  }
  if (trace) trace->query_tiles = divide_up(m, at_once);
}

}  // namespace kith
