#include "search/resident/some_rows.hpp"

#include <algorithm>
#include <cmath>

#include "base/float_guard.hpp"
#include "boxes/packed_rows.hpp"
#include "certified/row_sample.hpp"
#include "rows/gathered_rows.hpp"
#include "rows/landing.hpp"

namespace kith {

namespace {

/// Returns `rows` rows with the schema of `index`, but without memory, and without what is known of values.
std::shared_ptr<ResidentRows> like(const ResidentRows& index, std::int64_t rows) {
  auto some = std::make_shared<ResidentRows>(static_cast<const RowSchema&>(index));
  some->rows = rows;
  return some;
}

std::shared_ptr<ResidentRows> uploaded_once_more(const ResidentRows& index,
                                                 std::span<const std::int64_t> places,
                                                 std::uint32_t threads) {
  const std::vector<float> rows = gathered_rows(index, places, threads);
  return uploaded_rows(index, {rows.data(), static_cast<std::int64_t>(places.size()), index.dims}, threads);
}

}  // namespace

std::shared_ptr<ResidentRows> uploaded_rows(const RowSchema& schema, MatrixView<const float> rows,
                                            std::uint32_t threads) {
  auto some = std::make_shared<ResidentRows>(schema);
  some->rows = rows.rows();
  if (!compares_bits(schema.metric)) {
    const FloatGuard guard;
    for (std::int64_t r = 0; r < rows.rows(); ++r)
      for (std::int64_t d = 0; d < rows.cols(); ++d)
        some->largest = std::max(some->largest, std::fabs(rows(r, d)));
  }
  some->chunks = upload_chunks(schema.device.state(), rows, 0, threads);
  sampled_values(rows, schema.metric, some->element, threads).tell(*some);
  return some;
}

std::shared_ptr<const ResidentRows> compacted_rows(const ResidentRows& index,
                                                   std::span<const std::int64_t> places) {
  return uploaded_once_more(index, places, 0);
}

std::shared_ptr<const ResidentRows> kept_rows(const ResidentRows& index, std::span<const std::int64_t> places,
                                              std::uint32_t threads) {
  std::shared_ptr<ResidentRows> some;
  if (packs_rows(*index.device.state(), index.dims)) {
    some = like(index, static_cast<std::int64_t>(places.size()));
    some->chunks = packed_chunks(index, places, threads);
    some->largest = index.largest;
    some->centre = index.centre;
    some->clip_range = index.clip_range;
    some->half_bytes = index.half_bytes;
    some->grid = index.grid;
    some->spread = index.spread;
  } else {
    some = uploaded_once_more(index, places, threads);
  }
  some->largest_of_shards = index.largest_of_all();
  return some;
}

}  // namespace kith
