#include "index_file/doubles_sink.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "base/float_guard.hpp"
#include "base/text.hpp"
#include "kith/index_file.hpp"
#include "metric/chain.hpp"
#include "rows/prepared/prepared_metric.hpp"
#include "rows/rows.hpp"
#include "search/doubles/double_rows_of_index.hpp"

namespace kith {

DoublesSink::DoublesSink(const IndexPart& part, const IndexLayout& layout, std::uint64_t offset,
                         std::shared_ptr<const PeriodicBox> box)
    : first_(part.first),
      unit_(prepare_of(layout.info.metric) == Prepare::unit_rows),
      most_(largest_prepared(layout.info.metric, DBL_MAX)),
      offset_(offset),
      box_(std::move(box)),
      rows_{{}, part.rows, layout.info.features, 0} {
  rows_.values.resize(cells_of(rows_.rows, rows_.dims));
}

void DoublesSink::take(std::span<const unsigned char> bytes) {
  const FloatGuard guard;
  std::memcpy(reinterpret_cast<unsigned char*>(rows_.values.data()) + taken_, bytes.data(), bytes.size());
  taken_ += bytes.size();
  const auto whole = static_cast<std::int64_t>(taken_ / (size(rows_.dims) * sizeof(double)));
  for (; checked_ < whole; ++checked_) check_row(checked_);
}

/// Refuses a value that is not finite, and for cosine a row that is no unit row: the norm of a row that
/// make_unit_row() makes, and its computation here, have an error of at most (dims + 4) 2^-53 each.
void DoublesSink::check_row(std::int64_t row) {
  double sum = 0;
  for (std::int64_t d = 0; d < rows_.dims; ++d) {
    const double value = rows_.row(row)[size(d)];
    if (!std::isfinite(value))
      refuse_index_file(offset_, place_text("training", first_ + row, d) + " holds " +
                                     (std::isnan(value) ? "NaN" : "an infinity") + "; save the index again");
    if (box_ && !box_->holds(d, value))
      refuse_index_file(offset_, place_text("training", first_ + row, d) + " holds " + text_of(value) +
                                     ", outside of the box; save the index again");
    if (std::fabs(value) > most_)
      refuse_index_file(offset_, place_text("training", first_ + row, d) + " holds " + text_of(value) +
                                     ", beyond half of the largest number; save the index again");
    rows_.largest = std::max(rows_.largest, std::fabs(value));
    sum += value * value;
  }
  if (unit_ && !(std::fabs(sum - 1) <= static_cast<double>(rows_.dims + 8) * 0x1p-51))
    refuse_index_file(offset_, "row " + std::to_string(first_ + row) +
                                   " is no unit row, as those of cosine are; save the index again");
}

void DoublesSink::end(Index::State& index, const OpenOptions& options) {
  IndexOptions how;
  how.placement = options.placement;
  how.shares = options.shares;
  put_prepared_doubles(index, std::move(rows_), how);
}

}  // namespace kith
