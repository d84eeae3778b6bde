#include "search/picked/picked_search.hpp"

#include <cmath>
#include <utility>

#include "host/parallel.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/lists/trace_sums.hpp"
#include "search/resident/resident_search.hpp"

namespace kith {

bool leaves_way_open(const SearchOptions& options) {
  return options.proposer == Proposer::automatic && options.selector == Selector::automatic &&
         !options.fused && options.boxes != true && options.sample.empty() && options.lists == 0 &&
         options.query_tile == 0 && options.train_tile == 0;
}

std::vector<std::int64_t> numbers_from(std::int64_t first, std::int64_t count, std::int64_t stride) {
  std::vector<std::int64_t> numbers(size(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = first + static_cast<std::int64_t>(i) * stride;
  return numbers;
}

std::vector<std::int64_t> places_of_sample(std::int64_t rows) {
  return numbers_from(0, divide_up(rows, picked_sample_stride), picked_sample_stride);
}

LeftOpen LeftOpen::with_value() {
  LeftOpen with, without;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    (std::isfinite(values[i]) ? with : without).add(numbers[i], values[i]);
  *this = std::move(without);
  return with;
}

double PickedSearch::value_at(std::span<const Key> list, std::int64_t k) {
  const bool is_there = static_cast<std::int64_t>(list.size()) >= k;
  return is_there ? static_cast<double>(value_of(list[size(k - 1)])) : std::nan("");
}

PickedQueries PickedSearch::tried_queries(std::int64_t most) const {
  constexpr std::int64_t queries_a_tried = 16;
  const std::int64_t m = request_.m(), tried = std::min(most, divide_up(m, queries_a_tried));
  return {request_, numbers_from(0, tried, m / std::max<std::int64_t>(tried, 1))};
}

void PickedSearch::search_nearest(const ResidentRows& rows, MatrixView<const float> some,
                                  const PickedQueries& queries, SearchOptions way, std::int64_t k,
                                  PickedLists& to) {
  search_some(rows, some, way, std::min(k + (queries.leaves_own() ? 1 : 0), rows.rows), to);
}

void PickedSearch::search_by_chain(const ResidentRows& rows, MatrixView<const float> some,
                                   const PickedQueries& queries, SearchOptions way, std::int64_t k,
                                   PickedLists& to) {
  way.proposer = Proposer::none;
  search_nearest(rows, some, queries, std::move(way), k, to);
}

void PickedSearch::search_some(const ResidentRows& rows, MatrixView<const float> some,
                               const SearchOptions& way, std::int64_t k, PickedLists& to) {
  float largest = 0;
  if (way.proposer != Proposer::none)
    for (std::int64_t i = 0; i < some.rows(); ++i)
      for (std::int64_t d = 0; d < some.cols(); ++d) largest = std::max(largest, std::fabs(some(i, d)));
  QuerySet queries(RowsView(some), some, largest);
  Trace more = trace_ ? asked_like(*trace_) : Trace{};
  search_resident(rows, {queries, way, k}, to, trace_ ? &more : nullptr);
  if (trace_) add_rest(*trace_, more);
}

void PickedSearch::search_sample(const ResidentRows& sample, MatrixView<const float> some,
                                 const PickedQueries& queries, std::int64_t k, PickedLists& to) {
  SearchOptions way = queries.options();
  const std::vector<std::uint32_t> words = words_of_sample(way.filter, sample.rows);
  if (!words.empty()) way.filter = {words.data(), way.filter.rows(), words_of_filter(sample.rows)};
  search_by_chain(sample, some, queries, way, k, to);
}

std::span<const Key> PickedSearch::list_in_sample(const PickedQueries& queries, PickedLists& lists,
                                                  std::int64_t i) {
  const bool own = queries.leaves_own() && queries.own(i) % picked_sample_stride == 0;
  return own ? lists.list_without(i, queries.own(i) / picked_sample_stride) : lists.list(i);
}

std::vector<double> PickedSearch::values_in_sample(const ResidentRows& sample, MatrixView<const float> some,
                                                   const PickedQueries& queries) {
  constexpr std::int64_t fewest = 8;
  const std::int64_t k = std::max(fewest, divide_up(k_, picked_sample_stride));
  PickedLists near;
  search_sample(sample, some, queries, k, near);
  std::vector<double> values;
  for (std::int64_t i = 0; i < queries.count(); ++i)
    values.push_back(value_at(list_in_sample(queries, near, i), std::min(k, sample.rows)));
  return values;
}

/// Returns the filter of the rows of the sample, each of which has the lowest bit of a word.
std::vector<std::uint32_t> PickedSearch::words_of_sample(MatrixView<const std::uint32_t> filter,
                                                         std::int64_t rows) const {
  const std::int64_t of_sample = words_of_filter(rows);
  std::vector<std::uint32_t> words(cells_of(filter.rows(), filter.rows() > 0 ? of_sample : 0));
  for (std::int64_t f = 0; f < filter.rows(); ++f)
    for (std::int64_t i = 0; i < rows; ++i)
      words[size(f * of_sample + i / 32)] |= (filter(f, i) & 1u) << i % 32;
  return words;
}

void PickedSearch::begin(std::int64_t first, std::int64_t count) {
  first_ = first;
  answers_.resize(cells_of(count, k_));
}

bool PickedSearch::keep(std::int64_t query, std::span<const Key> list) {
  const auto to = answers_.begin() + static_cast<std::ptrdiff_t>((query - first_) * k_);
  const std::size_t found = std::min(list.size(), size(k_));
  std::fill_n(std::copy_n(list.begin(), found, to), size(k_) - found, no_key);
  return true;
}

void PickedSearch::pass_on() {
  if (sink_.takes_lists()) return sink_.put_lists(first_, answers_, size(k_));
  const auto count = static_cast<std::int64_t>(answers_.size()) / k_;
  parallel_for(count, count * k_, request_.options.threads, [&](std::int64_t q) {
    sink_.put(first_ + q, std::span(answers_).subspan(size(q * k_), size(k_)));
  });
}

void PickedSearch::answer_open(const std::vector<std::int64_t>& open, bool by_chain) {
  const PickedQueries queries(request_, open);
  PickedLists found;
  SearchOptions way = queries.options();
  if (by_chain) way.proposer = Proposer::none;
  search_nearest(index_, queries.rows(), queries, std::move(way), k_, found);
  for (std::int64_t i = 0; i < queries.count(); ++i) keep(queries.number(i), list_of(queries, found, i));
  if (trace_) trace_->fallbacks += queries.count();
}

}  // namespace kith
