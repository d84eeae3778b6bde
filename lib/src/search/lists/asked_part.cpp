#include "search/lists/asked_part.hpp"

#include <algorithm>
#include <utility>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

constexpr std::int64_t word_bits = 32;

/// Copies bits first, first + 1, ... of `from`, [words], into whole words, with 0 behind its end.
void shift_words(const std::uint32_t* from, std::int64_t words, std::int64_t first,
                 std::span<std::uint32_t> to) {
  const std::int64_t skipped = first / word_bits;
  const auto shift = static_cast<unsigned>(first % word_bits);
  const auto word = [&](std::int64_t w) { return w < words ? std::uint64_t{from[w]} : 0; };
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::int64_t w = skipped + static_cast<std::int64_t>(i);
    to[i] = static_cast<std::uint32_t>((word(w) | word(w + 1) << word_bits) >> shift);
  }
}

}  // namespace

FilterPart::FilterPart(MatrixView<const std::uint32_t> filter, std::int64_t m, RowRange some, RowRange rows) {
  const RowRange filters = filter.rows() != 1 || m == 1 ? some : RowRange{0, 1};
  const std::int64_t cols = words_of_filter(rows.count);
  if (rows.first % word_bits == 0) {
    words_ = {filter.row(filters.first) + rows.first / word_bits, filters.count, cols, filter.stride()};
    return;
  }
  const std::size_t words = size(cols);
  own_.resize(cells_of(filters.count, cols));
  for (std::int64_t f = 0; f < filters.count; ++f)
    shift_words(filter.row(filters.first + f), filter.cols(), rows.first,
                std::span(own_).subspan(size(f) * words, words));
  words_ = {own_.data(), filters.count, cols};
}

AskedPart::AskedPart(std::int64_t m, const SearchOptions& options, RowRange some, RowRange rows)
    : options_(options) {
  if (!has_filter(options)) return;
  filter_.emplace(options.filter, m, some, rows);
  options_.filter = FilterWords(filter_->words());
}

void AskedPart::scale_progress(double from, double to) {
  if (!options_.progress) return;
  options_.progress = [told = std::move(options_.progress), from, to](const Progress& progress) {
    const FloatGuard guard;
    const double part = progress.fraction == 1 ? to : std::min(to, from + (to - from) * progress.fraction);
    call_back(told, Progress{part});
  };
}

}  // namespace kith
