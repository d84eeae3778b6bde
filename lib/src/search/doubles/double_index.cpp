#include "search/doubles/double_index.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "rows/rows.hpp"

namespace kith {

std::span<const double> DoubleRows::row(std::int64_t place) const {
  const auto behind = std::upper_bound(chunks_.begin(), chunks_.end(), place,
                                       [](std::int64_t at, const Chunk& chunk) { return at < chunk.first; });
  const Chunk& chunk = *std::prev(behind);
  return chunk.rows->row(place - chunk.first);
}

void DoubleRows::append(PreparedDoubles more, const DeviceInfo& device) {
  const std::int64_t count = more.rows;
  dims_ = more.dims;
  chunks_.push_back({rows_, std::make_shared<const PreparedDoubles>(std::move(more)),
                     std::make_shared<DoublesOnDevice>(device)});
  rows_ += count;
}

std::size_t DoubleRows::bytes_on_device() const {
  std::size_t all = 0;
  for (const Chunk& chunk : chunks_) all += chunk.there->bytes();
  return all;
}

PreparedDoubles DoubleRows::gathered(std::span<const std::int64_t> places) const {
  const std::int64_t count = places.empty() ? rows_ : static_cast<std::int64_t>(places.size());
  PreparedDoubles some{{}, count, dims(), 0};
  some.values.resize(cells_of(count, some.dims));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::span<const double> from = row(places.empty() ? i : places[size(i)]);
    std::copy(from.begin(), from.end(), some.values.begin() + i * some.dims);
  }
  for (const double value : some.values) some.largest = std::max(some.largest, std::fabs(value));
  return some;
}

}  // namespace kith
