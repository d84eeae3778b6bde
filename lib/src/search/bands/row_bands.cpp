#include "search/bands/row_bands.hpp"

#include <algorithm>
#include <bit>
#include <mutex>

#include "base/numbers.hpp"
#include "device/timing.hpp"
#include "host/parallel.hpp"
#include "rows/read_back.hpp"
#include "search/resident/some_rows.hpp"

namespace kith {
namespace {

/// A search of a band takes some 0.1 ms beside reading its rows, so that fewer rows would save nothing.
constexpr std::int64_t fewest_rows = 8192, most_bands = 64;

std::vector<std::uint32_t> ones_of_rows(const ResidentRows& index, std::uint32_t threads) {
  constexpr std::int64_t at_once = 1 << 16;
  std::vector<std::uint32_t> ones(size(index.rows));
  std::vector<float> rows, packed;
  for (const Chunk& chunk : index.chunks)
    for (std::int64_t first = 0; first < chunk.rows; first += at_once) {
      const std::int64_t some = std::min(at_once, chunk.rows - first);
      rows.resize(size(some) * size(index.dims));
      read_rows(index, chunk, first, some, rows.data(), packed, threads);
      parallel_for(some, some * index.dims, threads, [&](std::int64_t r) {
        ones[size(chunk.first + first + r)] = ones_of(rows.data() + size(r) * size(index.dims), index.dims);
      });
    }
  return ones;
}

}  // namespace

std::uint32_t ones_of(const float* row, std::int64_t dims) {
  std::uint32_t ones = 0;
  for (std::int64_t d = 0; d < dims; ++d)
    ones += static_cast<std::uint32_t>(std::popcount(std::bit_cast<std::uint32_t>(row[d])));
  return ones;
}

RowBands::RowBands(const ResidentRows& index, std::uint32_t threads) {
  const std::vector<std::uint32_t> ones = ones_of_rows(index, threads);
  std::vector<std::int64_t> rows_with(size(index.columns) + 1);
  for (const std::uint32_t of_row : ones) ++rows_with[of_row];
  const std::int64_t enough = std::max(fewest_rows, divide_up(index.rows, most_bands));
  std::vector<std::uint32_t> band_with(rows_with.size());
  std::int64_t in_band = enough;
  for (std::uint32_t count = 0; count < rows_with.size(); ++count) {
    if (rows_with[count] == 0) continue;
    if (in_band >= enough) {
      bands_.emplace_back().least = count;
      in_band = 0;
    }
    in_band += rows_with[count];
    bands_.back().most = count;
    band_with[count] = static_cast<std::uint32_t>(bands_.size() - 1);
  }
  for (std::int64_t place = 0; place < index.rows; ++place)
    bands_[band_with[ones[size(place)]]].places.push_back(place);
  for (Band& band : bands_) band.rows = kept_rows(index, band.places, threads);
}

std::size_t RowBands::bytes() const {
  std::size_t bytes = 0;
  for (const Band& band : bands_)
    for (const Chunk& chunk : band.rows->chunks) bytes += chunk.memory->bytes;
  return bytes;
}

std::shared_ptr<const RowBands> bands_for(const ResidentRows& index, const SearchOptions& options,
                                          Trace* trace) {
  const std::lock_guard lock(index.made->quantized_mutex);
  if (index.made->bands) return index.made->bands;
  const Stopwatch making;
  index.made->bands = std::make_shared<RowBands>(index, options.threads);
  if (trace) {
    trace->boxes_seconds = making.seconds();
    trace->boxes_bytes = index.made->bands->bytes();
  }
  return index.made->bands;
}

}  // namespace kith
