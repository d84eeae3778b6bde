#include "rows/mapped_options.hpp"

#include <algorithm>
#include <string>

#include "base/numbers.hpp"
#include "kith/error.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

constexpr std::size_t bits_of_word = 32;

/// Converts one row of a filter by positions to a filter by places.
///   to  must be zeros
void map_words(const Index::State& index, const std::uint32_t* from, std::span<std::uint32_t> to) {
  if (index.numbers.in_place()) {
    std::copy_n(from, to.size(), to.data());
  } else {
    for (std::int64_t place = 0; place < index.rows; ++place) {
      const std::size_t bit = size(index.numbers.position(place));
      if ((from[bit / bits_of_word] >> bit % bits_of_word & 1u) != 0)
        to[size(place) / bits_of_word] |= 1u << size(place) % bits_of_word;
    }
  }
  index.removed.strike(to);
}

}  // namespace

MappedOptions::MappedOptions(std::string_view where, const Index::State& index, const SearchOptions& options,
                             std::int64_t m, std::optional<std::int64_t> k)
    : given_(options) {
  if (!index.groups && (!options.groups.empty() || options.rows_from_group))
    throw Error(Errc::invalid_argument, std::string(where) +
                                            ": the search is by groups, but the rows have none; leave groups "
                                            "and rows_from_group out, or give the index groups");
  const bool moved = !index.numbers.in_place() && (has_filter(options) || options.self);
  if (!moved && index.removed.count() == 0) return;
  if (k) check_k(where, *k, index.live(), options);
  check_rows_left_out(where, index.numbers.positions(), m, options);
  changed_ = true;
  own_ = options;
  if (options.self) map_self(where, index, m);
  if (has_filter(options) || index.removed.count() > 0) map_filter(index);
}

void MappedOptions::map_self(std::string_view where, const Index::State& index, std::int64_t m) {
  const std::int64_t first = *given_.self;
  for (std::int64_t position = first; position < first + m; ++position) {
    const auto place = index.numbers.place_of_position(position, index.rows);
    if (!place || index.removed.has(*place))
      throw Error(Errc::invalid_argument, std::string(where) + ": self = " + std::to_string(first) +
                                              " with " + std::to_string(m) + " queries, but row " +
                                              std::to_string(position) +
                                              " is removed; ask about rows that are there");
    if (position == first) own_.self = *place;
  }
  if (m == 0) own_.self = 0;
}

void MappedOptions::map_filter(const Index::State& index) {
  const std::size_t words = size(words_of_filter(index.rows));
  const MatrixView<const std::uint32_t>& filter = given_.filter;
  if (!has_filter(given_)) {
    words_.assign(words, ~0u);
    index.removed.strike(words_);
    own_.filter = {words_.data(), 1, static_cast<std::int64_t>(words)};
    return;
  }
  words_.resize(cells_of(filter.rows(), static_cast<std::int64_t>(words)));
  for (std::int64_t f = 0; f < filter.rows(); ++f)
    map_words(index, filter.row(f), std::span(words_).subspan(size(f) * words, words));
  own_.filter = {words_.data(), filter.rows(), static_cast<std::int64_t>(words)};
}

}  // namespace kith
