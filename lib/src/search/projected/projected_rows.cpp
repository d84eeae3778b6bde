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

constexpr std::int64_t rows_of_filled = 256;

Floats all_rows_of(const ResidentRows& index, std::uint32_t threads) {
  Floats rows(cells_of(index.rows, index.dims));
  read_places(index, 0, index.rows, rows.data(), threads);
  return rows;
}

/// Returns the directions of a sample of the rows.
Projection projection_of(const ResidentRows& index, MatrixView<const float> rows, std::uint32_t threads) {
  const FloatGuard guard;
  const std::int64_t stride = divide_up(rows.rows(), most_rows_of_directions(rows.cols()));
  return {index.centre,
          directions_of({rows.data(), divide_up(rows.rows(), stride), rows.cols(), stride * rows.cols()},
                        index.centre, threads)};
}

}  // namespace

std::int64_t most_rows_of_directions(std::int64_t dims) {
  constexpr std::int64_t fewest = 256, most = 2048, cells = 1 << 22;
  return std::clamp(cells / dims, fewest, most);
}

ProjectedRows::ProjectedRows(const ResidentRows& index, std::shared_ptr<ProjectedReaches> known,
                             std::uint32_t threads)
    : reaches_(known ? std::move(known) : std::make_shared<ProjectedReaches>()),
      rows_(all_rows_of(index, threads)),
      projection_(projection_of(index, {rows_.data(), index.rows, index.dims}, threads)) {
  const FloatGuard guard;
  Projected projected = projection_->project({rows_.data(), index.rows, index.dims}, threads);
  fine_ = std::move(projected.fine);
  const MatrixView<const float> rows(rows_.data(), index.rows, index.dims);
  if (index.dims <= most_byte_columns && lie_on(index.grid, rows, threads))
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

void ProjectedReaches::tell(std::int64_t k, const ProjectedReach& reach) {
  const std::lock_guard lock(mutex_);
  reaches_[k] = reach;
}

void ProjectedReaches::fail(std::int64_t k) {
  const std::lock_guard lock(mutex_);
  if (failed_.insert(k).second)
    reaches_.erase(k);
  else
    reaches_[k].pays = false;
}

std::optional<ProjectedReach> ProjectedReaches::reach(std::int64_t k) const {
  const std::lock_guard lock(mutex_);
  const auto found = reaches_.find(k);
  return found == reaches_.end() ? std::nullopt : std::optional(found->second);
}

bool ProjectedReaches::loses(std::int64_t k) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(reaches_.begin(), reaches_.end(), [k](const auto& known) {
    constexpr std::int64_t times = 4;  // searches for more neighbours than these find out themselves
    return !known.second.pays && known.first <= k && k <= times * known.first;
  });
}

bool ProjectedReaches::any_pays() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(reaches_.begin(), reaches_.end(), [](const auto& known) { return known.second.pays; });
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
  auto& kept = index.made->projected;
  if (kept && kept->are_made()) return kept;
  const Stopwatch making;
  try {
    kept = std::make_shared<ProjectedRows>(index, kept ? kept->reaches() : nullptr, threads);
    if (trace) trace->seconds["project"] += making.seconds();
    return kept;
  } catch (const Error& error) {
    if (!lacks_room(error)) throw;
  } catch (const std::bad_alloc&) {
  }
  index.made->projected_lack_room = true;
  return nullptr;
}

std::shared_ptr<const ProjectedRows> made_projected_rows(const ResidentRows& index) {
  const std::lock_guard lock(index.made->quantized_mutex);
  const auto& kept = index.made->projected;
  return kept && kept->are_made() ? kept : nullptr;
}

std::shared_ptr<const ProjectedReaches> known_reaches(const ResidentRows& index) {
  const std::lock_guard lock(index.made->quantized_mutex);
  const auto& kept = index.made->projected;
  return kept ? kept->reaches() : nullptr;
}

void release_useless(const ResidentRows& index, std::int64_t k) {
  std::shared_ptr<const ProjectedRows> useless;  // goes when the lock is no longer held
  const std::lock_guard lock(index.made->quantized_mutex);
  auto& kept = index.made->projected;
  if (!kept || !kept->are_made() || !kept->reaches()->loses(k) || kept->reaches()->any_pays()) return;
  useless = std::exchange(kept, std::make_shared<ProjectedRows>(kept->reaches()));
}

}  // namespace kith
