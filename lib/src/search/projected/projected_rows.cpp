#include "search/projected/projected_rows.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "certified/byte_grid.hpp"
#include "device/timing.hpp"
#include "kith/error.hpp"
#include "rows/gathered_rows.hpp"
#include "rows/read_back.hpp"
#include "rows/rows.hpp"
#include "search/picked/picked_search.hpp"
#include "search/resident/some_rows.hpp"

namespace kith {
namespace {

constexpr std::int64_t rows_of_directions = 2048, rows_of_filled = 256;

Floats all_rows_of(const ResidentRows& index, std::uint32_t threads) {
  Floats rows(cells_of(index.rows, index.dims));
  read_places(index, 0, index.rows, rows.data(), threads);
  return rows;
}

/// Returns the directions of a sample of the rows.
Projection projection_of(const ResidentRows& index, MatrixView<const float> rows, std::uint32_t threads) {
  const FloatGuard guard;
  const std::int64_t stride = divide_up(rows.rows(), rows_of_directions);
  return {index.centre,
          directions_of({rows.data(), divide_up(rows.rows(), stride), rows.cols(), stride * rows.cols()},
                        index.centre, threads)};
}

}  // namespace

ProjectedRows::ProjectedRows(const ResidentRows& index, std::uint32_t threads)
    : rows_(all_rows_of(index, threads)),
      projection_(projection_of(index, {rows_.data(), index.rows, index.dims}, threads)) {
  const FloatGuard guard;
  Projected projected = projection_.project({rows_.data(), index.rows, index.dims}, threads);
  fine_ = std::move(projected.fine);
  const MatrixView<const float> rows(rows_.data(), index.rows, index.dims);
  if (index.dims <= most_byte_columns && place_on_grid(index.grid, rows, threads) == spi::OnGrid::exactly)
    bytes_.emplace(index.grid, rows, threads);
  const RowSchema schema = no_coarse_rows(index);
  const MatrixView<const float> coarse(projected.coarse.data(), index.rows, coarse_columns);
  coarse_ = uploaded_rows(schema, coarse, threads);
  sample_ = uploaded_rows(schema,
                          {coarse.data(), divide_up(coarse.rows(), picked_sample_stride), coarse_columns,
                           picked_sample_stride * coarse_columns},
                          threads);
}

std::size_t ProjectedRows::bytes() const {
  return (rows_.size() + fine_.size()) * sizeof(float) + (bytes_ ? bytes_->bytes() : 0);
}

void ProjectedRows::tell_reach(std::int64_t k, const ProjectedReach& reach) const {
  const std::lock_guard lock(mutex_);
  reaches_[k] = reach;
}

std::optional<ProjectedReach> ProjectedRows::reach(std::int64_t k) const {
  const std::lock_guard lock(mutex_);
  const auto found = reaches_.find(k);
  return found == reaches_.end() ? std::nullopt : std::optional(found->second);
}

bool ProjectedRows::loses(std::int64_t k) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(reaches_.begin(), reaches_.end(),
                     [k](const auto& known) { return !known.second.pays && known.first <= k; });
}

ResidentRows no_coarse_rows(const ResidentRows& index) {
  return ResidentRows(
      RowSchema(index.device, Metric::squared_l2, coarse_columns, numbers_from(0, coarse_columns)));
}

double filled_directions(const ResidentRows& index, std::uint32_t threads) {
  const std::lock_guard lock(index.made->quantized_mutex);
  double& filled = index.made->filled_directions;
  if (filled > 0) return filled;
  const FloatGuard guard;
  const std::int64_t stride = divide_up(index.rows, rows_of_filled);
  const std::vector<std::int64_t> places = numbers_from(0, divide_up(index.rows, stride), stride);
  const std::vector<float> rows = gathered_rows(index, places, threads);
  const MatrixView<const float> sample(rows.data(), static_cast<std::int64_t>(places.size()), index.dims);
  return filled = std::max(filled_directions(sample, index.centre, threads), 1.0);
}

std::shared_ptr<const ProjectedRows> projected_rows_with_room(const ResidentRows& index,
                                                              std::uint32_t threads, Trace* trace) {
  const std::lock_guard lock(index.made->quantized_mutex);
  if (index.made->projected) return index.made->projected;
  const Stopwatch making;
  try {
    index.made->projected = std::make_shared<ProjectedRows>(index, threads);
    if (trace) trace->seconds["project"] += making.seconds();
  } catch (const Error& error) {
    if (error.code() != Errc::out_of_memory) throw;
    index.made->projected_lack_room = true;
  } catch (const std::bad_alloc&) {
    index.made->projected_lack_room = true;
  }
  return index.made->projected;
}

std::shared_ptr<const ProjectedRows> made_projected_rows(const ResidentRows& index) {
  const std::lock_guard lock(index.made->quantized_mutex);
  return index.made->projected;
}

}  // namespace kith
