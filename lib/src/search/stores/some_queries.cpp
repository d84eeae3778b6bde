#include "search/stores/some_queries.hpp"

#include <cstring>

#include "base/numbers.hpp"
#include "search/resident/boxed_search.hpp"

namespace kith {
namespace {

std::vector<unsigned char> given_rows(const RowsView& all, const std::vector<std::int64_t>& numbers) {
  const std::size_t bytes = size(row_bytes(all.element, all.cols));
  std::vector<unsigned char> some(numbers.size() * bytes);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    std::memcpy(some.data() + i * bytes, all.row(numbers[i]), bytes);
  return some;
}

}  // namespace

SearchOptions without_self(const SearchOptions& options) {
  SearchOptions own = options;
  own.self.reset();
  return own;
}

SearchOptions options_of_rest(const SearchOptions& asked) {
  SearchOptions rest;
  rest.filter = asked.filter;
  rest.self = asked.self;
  rest.memory_limit = asked.memory_limit;
  rest.threads = asked.threads;
  rest.stop = asked.stop;
  return rest;
}

SomeQueries::SomeQueries(const SearchRequest& request, const std::vector<std::int64_t>& numbers)
    : options_(without_self(request.options)),
      given_(given_rows(request.queries.given(), numbers)),
      rows_(gathered(request.queries.rows().on_host(), numbers, 0)),
      queries_(RowsView(given_.data(), request.queries.given().element,
                        static_cast<std::int64_t>(numbers.size()), request.queries.given().cols),
               {rows_.data(), static_cast<std::int64_t>(numbers.size()), request.queries.rows().cols()},
               request.queries.largest()) {
  options_.progress = nullptr;
  if (options_.filter.rows() <= 1) return;
  words_ = gathered(options_.filter, numbers, 0);
  options_.filter = {words_.data(), static_cast<std::int64_t>(numbers.size()), options_.filter.cols()};
}

}  // namespace kith
