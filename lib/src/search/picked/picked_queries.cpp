#include "search/picked/picked_queries.hpp"

#include <algorithm>
#include <utility>

#include "base/numbers.hpp"
#include "rows/rows.hpp"
#include "search/resident/boxed_search.hpp"

namespace kith {
namespace {

/// Returns rows of a matrix by their numbers: those of the matrix if they lie one after another, else copies.
template <class T>
MatrixView<const T> some_rows(MatrixView<const T> all, const std::vector<std::int64_t>& numbers,
                              std::vector<T>& own) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  if (count == 0) return {nullptr, 0, all.cols()};
  if (numbers.back() - numbers.front() + 1 == count) return all.slice(numbers.front(), count);
  own = gathered(all, numbers, 0);
  return {own.data(), count, all.cols()};
}

}  // namespace

PickedQueries::PickedQueries(const SearchRequest& request, std::vector<std::int64_t> numbers)
    : asked_(request.options),
      numbers_(std::move(numbers)),
      self_(request.options.self),
      rows_(some_rows(request.queries.rows().on_host(), numbers_, own_rows_)),
      words_(asked_.filter) {
  if (words_.rows() > 1) words_ = some_rows(words_, numbers_, own_words_);
}

SearchOptions PickedQueries::options() const {
  SearchOptions options = asked_;
  options.filter = FilterWords(words_);
  options.self.reset();
  options.radius.reset();
  options.progress = nullptr;
  options.boxes = false;
  return options;
}

void PickedLists::begin(std::int64_t m, std::int64_t k) {
  k_ = size(k);
  keys_.assign(cells_of(m, k), no_key);
}

void PickedLists::put(std::int64_t query, std::span<const Key> nearest) {
  std::copy(nearest.begin(), nearest.end(), keys_.begin() + query * static_cast<std::ptrdiff_t>(k_));
}

std::span<const Key> PickedLists::list(std::int64_t i) const {
  const std::span all = std::span(keys_).subspan(size(i) * k_, k_);
  const auto end = std::find(all.begin(), all.end(), no_key);
  return all.first(static_cast<std::size_t>(end - all.begin()));
}

std::span<const Key> PickedLists::list_without(std::int64_t i, std::int64_t own) {
  const std::span<Key> all = std::span(keys_).subspan(size(i) * k_, k_);
  const auto end = std::remove_if(all.begin(), all.end(), [own](Key key) { return row_of(key) == own; });
  std::fill(end, all.end(), no_key);
  return list(i);
}

}  // namespace kith
