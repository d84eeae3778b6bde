#include "search/parted/asked_part.hpp"

#include <algorithm>
#include <utility>

#include "base/numbers.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

constexpr std::int64_t word_bits = 32;

/// Bits first, first + 1, ... of `from`, [words], as words; 0 behind its end.
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

std::vector<std::uint32_t> cut_filter(MatrixView<const std::uint32_t> filter, Stretch filters, Stretch rows) {
  const std::size_t words = size(words_of_filter(rows.count));
  std::vector<std::uint32_t> cut(cells_of(filters.count, static_cast<std::int64_t>(words)));
  for (std::int64_t f = 0; f < filters.count; ++f)
    shift_words(filter.row(filters.first + f), filter.cols(), rows.first,
                std::span(cut).subspan(size(f) * words, words));
  return cut;
}

AskedPart::AskedPart(std::int64_t m, const PlanOptions& options, Stretch some, Stretch rows)
    : options_(options) {
  if (!has_filter(options)) return;
  const bool for_each = options.filter.rows() != 1 || m == 1;
  const Stretch filters = for_each ? some : Stretch{0, 1};
  words_ = cut_filter(options.filter, filters, rows);
  options_.filter = {words_.data(), filters.count, words_of_filter(rows.count)};
}

void AskedPart::scale_progress(double from, double to) {
  if (!options_.progress) return;
  options_.progress = [told = std::move(options_.progress), from, to](const Progress& progress) {
    told({progress.fraction == 1 ? to : std::min(to, from + (to - from) * progress.fraction)});
  };
}

}  // namespace kith
