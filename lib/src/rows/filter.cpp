#include "kith/filter.hpp"

#include <bit>
#include <string>
#include <utility>

#include "base/border.hpp"
#include "base/refuse.hpp"
#include "kith/error.hpp"
#include "rows/landing.hpp"
#include "rows/row_filter.hpp"

namespace kith {
namespace {

/// The word and bit of a training row.
struct Place {
  std::size_t word;
  std::uint32_t bit;
};

Place place_of(const RowFilter& of, std::int64_t words, std::int64_t row, std::int64_t filter) {
  if (row < 0 || row >= of.rows())
    refuse("filter", "there is no row " + std::to_string(row) + " among " + std::to_string(of.rows()) +
                         "; choose from 0 to " + std::to_string(of.rows() - 1));
  if (filter < 0 || filter >= of.filters())
    refuse("filter", "there is no filter " + std::to_string(filter) + " among " +
                         std::to_string(of.filters()) + "; choose from 0 to " +
                         std::to_string(of.filters() - 1));
  return {static_cast<std::size_t>(filter * words + row / bits_a_word),
          std::uint32_t{1} << static_cast<std::uint32_t>(row % bits_a_word)};
}

}  // namespace

RowFilter::RowFilter(std::int64_t n, std::int64_t filters, bool all) try
    : rows_(n), filters_(filters), words_(words_of_filter(n)) {
  if (n < 1 || filters < 1)
    refuse("filter", std::to_string(filters) + " filters over " + std::to_string(n) +
                         " training rows; give at least one of each");
  bits_.assign(static_cast<std::size_t>(filters_ * words_), all ? 0xFFFFFFFFu : 0u);
  const std::int64_t last = n % bits_a_word;  // number of rows in the last word, if it is not full
  if (!all || last == 0) return;
  for (std::int64_t filter = 0; filter < filters_; ++filter)
    bits_[static_cast<std::size_t>((filter + 1) * words_ - 1)] =
        (std::uint32_t{1} << static_cast<std::uint32_t>(last)) - 1;
} catch (...) {
  rethrow_as_error();
}

RowFilter RowFilter::only(std::int64_t n, std::span<const std::int64_t> list) try {
  RowFilter filter(n, 1, false);
  for (const std::int64_t row : list) filter.set(row, true);
  return filter;
} catch (...) {
  rethrow_as_error();
}

void RowFilter::set(std::int64_t row, bool counts, std::int64_t filter) {
  const Place place = place_of(*this, words_, row, filter);
  if (counts)
    bits_[place.word] |= place.bit;
  else
    bits_[place.word] &= ~place.bit;
}

bool RowFilter::counts(std::int64_t row, std::int64_t filter) const {
  const Place place = place_of(*this, words_, row, filter);
  return (bits_[place.word] & place.bit) != 0;
}

std::int64_t RowFilter::count(std::int64_t filter) const {
  const std::size_t first = place_of(*this, words_, 0, filter).word;
  std::int64_t rows = 0;
  for (std::size_t word = first; word < first + static_cast<std::size_t>(words_); ++word)
    rows += std::popcount(bits_[word]);
  return rows;
}

RowFilter RowFilter::slice(std::int64_t first, std::int64_t count) const try {
  if (first < 0 || count < 1 || first > rows_ - count)
    refuse("filter", "there are no rows " + std::to_string(first) + " ... " + std::to_string(first) + " + " +
                         std::to_string(count) + " - 1 among " + std::to_string(rows_) +
                         "; choose at least one from 0 to " + std::to_string(rows_ - 1));
  RowFilter part(count, filters_);
  const std::int64_t before = first / bits_a_word;
  const auto shift = static_cast<std::uint32_t>(first % bits_a_word);
  for (std::int64_t filter = 0; filter < filters_; ++filter)
    for (std::int64_t word = 0; word < part.words_; ++word) {
      const auto at = [&](std::int64_t place) {
        return place < words_ ? bits_[static_cast<std::size_t>(filter * words_ + place)] : 0u;
      };
      const std::uint64_t both = std::uint64_t{at(before + word + 1)} << bits_a_word | at(before + word);
      part.bits_[static_cast<std::size_t>(filter * part.words_ + word)] &=
          static_cast<std::uint32_t>(both >> shift);
    }
  return part;
} catch (...) {
  rethrow_as_error();
}

MatrixView<const std::uint32_t> RowFilter::view() const {
  return {bits_.data(), filters_, words_};
}

FilterWords::FilterWords(RowFilter filter) try
    : FilterWords(std::make_shared<const RowFilter>(std::move(filter))) {
} catch (...) {
  rethrow_as_error();
}

FilterWords::FilterWords(std::shared_ptr<const RowFilter> filter)
    : MatrixView(filter->view()), kept_(std::move(filter)) {}

}  // namespace kith
