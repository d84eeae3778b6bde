#include "search/doubles/double_source.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/float_guard.hpp"
#include "base/xxh64.hpp"
#include "rows/rows.hpp"

namespace kith {

DoubleSource::DoubleSource(std::shared_ptr<const Source> source, Metric metric,
                           std::vector<std::int64_t> features, std::int64_t first_row)
    : source_(std::move(source)),
      info_(source_->info()),
      metric_(metric),
      features_(std::move(features)),
      first_row_(first_row) {}

std::int64_t DoubleSource::dims() const {
  return features_.empty() ? info_.cols : static_cast<std::int64_t>(features_.size());
}

std::int64_t DoubleSource::rows_a_block() const {
  constexpr std::int64_t at_once = std::int64_t{1} << 20;  // values
  return std::max<std::int64_t>(1, at_once / info_.cols);
}

PreparedDoubles DoubleSource::prepared(const std::vector<unsigned char>& raw, std::int64_t first,
                                       std::int64_t count, std::uint32_t threads) const {
  return prepare_doubles("index", "training", RowsView(raw.data(), info_.element, count, info_.cols), metric_,
                         features_, {}, threads, first_row_ + first);
}

PreparedDoubles DoubleSource::read(std::int64_t first, std::int64_t count, std::uint32_t threads) const {
  const FloatGuard guard;
  std::vector<unsigned char> raw(cells_of(count, row_bytes(info_.element, info_.cols)));
  source_->read(first, count, raw.data());
  return prepared(raw, first, count, threads);
}

PreparedDoubles DoubleSource::gathered(std::span<const std::uint32_t> places, std::uint32_t threads) const {
  const std::size_t bytes = size(row_bytes(info_.element, info_.cols));
  std::vector<unsigned char> raw(places.size() * bytes);
  for (std::size_t begin = 0, end = 0; begin < places.size(); begin = end) {
    // Rows that stand side by side are read at once.
    for (end = begin + 1; end < places.size() && places[end] == places[end - 1] + 1;) ++end;
    source_->read(places[begin], static_cast<std::int64_t>(end - begin), raw.data() + begin * bytes);
  }
  return prepared(raw, places.empty() ? 0 : places.front(), static_cast<std::int64_t>(places.size()),
                  threads);
}

void RoundedSource::read(std::int64_t first, std::int64_t count, void* to) const {
  const FloatGuard guard;
  const PreparedDoubles rows = doubles_->read(first, count, 1);
  const RoundedRows rounded = round_rows(doubles_->metric(), rows, how_, 1);
  std::memcpy(to, rounded.values.data(), rounded.values.size() * sizeof(float));
}

std::uint64_t RoundedSource::state() const {
  const std::uint64_t of_rows = doubles_->source().state();
  if (of_rows == 0) return 0;
  const std::uint64_t of_centre = Xxh64::of(how_.centre.data(), how_.centre.size() * sizeof(double));
  return (of_rows ^ of_centre ^ Xxh64::of(&how_.scale, sizeof how_.scale)) | 1;
}

}  // namespace kith
