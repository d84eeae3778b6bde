#include "certified/row_sample.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "certified/byte_grid.hpp"
#include "certified/spread.hpp"
#include "host/parallel.hpp"
#include "metric/chain.hpp"
#include "plan/product_bounds.hpp"

namespace kith {
namespace {

/// Adds a row to the sums and extremes of `count` columns, and returns whether its values are whole numbers.
/// The three loops are branch-free, so that they vectorise.
bool add_columns(const float* row, std::size_t count, double* sum, float* least, float* most) {
  constexpr float to_whole = 0x1p23f;  // adding and subtracting it drops the fraction of a float
  for (std::size_t d = 0; d < count; ++d) sum[d] += static_cast<double>(row[d]);
  for (std::size_t d = 0; d < count; ++d) {
    least[d] = std::min(least[d], row[d]);
    most[d] = std::max(most[d], row[d]);
  }
  unsigned fractions = 0;
  for (std::size_t d = 0; d < count; ++d) {
    const float value = std::fabs(row[d]), whole = (value + to_whole) - to_whole;
    fractions |= value < to_whole && whole != value ? 1u : 0u;
  }
  return fractions == 0;
}

/// One row in this many of a sample is kept, to measure distances between rows.
constexpr std::int64_t rows_a_kept_one = 64;

}  // namespace

std::int64_t sample_stride(std::int64_t rows) {
  constexpr std::int64_t most_samples = 4096;
  return divide_up(rows, most_samples);
}

void SampledValues::tell(ResidentRows& index) const {
  index.centre = centre;
  index.clip_range = clip_range;
  index.half_bytes = half_bytes;
  index.grid = grid;
  index.spread = spread;
}

RowSample::RowSample(std::int64_t dims)
    : sum_(size(dims)),
      least_(size(dims), std::numeric_limits<float>::infinity()),
      most_(size(dims), -std::numeric_limits<float>::infinity()) {}

void RowSample::add_sums(const float* row) {
  whole_ = add_columns(row, sum_.size(), sum_.data(), least_.data(), most_.data()) && whole_;
  ++samples_;
}

/// Adds every `stride`-th row. Each thread adds some columns, on its own stack, because threads that write to
/// neighbouring memory slow each other down. These are as many as leave each thread some, since short pieces
/// of rows take long to read.
void RowSample::add_sums(MatrixView<const float> rows, std::int64_t stride, std::uint32_t threads) {
  constexpr std::size_t least_columns = 32, most_columns = 512;
  const std::int64_t count = divide_up(rows.rows(), stride);
  const std::size_t dims = sum_.size(),
                    columns_a_share = std::clamp(dims / team_size(threads) + 1, least_columns, most_columns),
                    shares = dims / columns_a_share + 1;  // the last may have no columns
  std::vector<unsigned char> whole(shares, 1);
  parallel_for(static_cast<std::int64_t>(shares), count * rows.cols(), threads, [&](std::int64_t share) {
    const std::size_t begin = size(share) * columns_a_share,
                      columns = std::min(columns_a_share, dims - begin);
    std::array<double, most_columns> sum;
    std::array<float, most_columns> least, most;
    std::copy_n(sum_.data() + begin, columns, sum.data());
    std::copy_n(least_.data() + begin, columns, least.data());
    std::copy_n(most_.data() + begin, columns, most.data());
    bool all_whole = true;
    for (std::int64_t r = 0; r < rows.rows(); r += stride)
      all_whole =
          add_columns(rows.row(r) + begin, columns, sum.data(), least.data(), most.data()) && all_whole;
    std::copy_n(sum.data(), columns, sum_.data() + begin);
    std::copy_n(least.data(), columns, least_.data() + begin);
    std::copy_n(most.data(), columns, most_.data() + begin);
    whole[size(share)] = all_whole;
  });
  whole_ = whole_ && std::find(whole.begin(), whole.end(), 0) == whole.end();
  samples_ += count;
}

void RowSample::add_values(const float* row) {
  for (std::size_t d = 0; d < sum_.size() && !values_.too_many(); ++d) values_.add(row[d]);
}

void RowSample::add(MatrixView<const float> rows, std::int64_t first, std::int64_t stride) {
  const FloatGuard guard;
  for (std::int64_t r = divide_up(first, stride) * stride - first; r < rows.rows(); r += stride) {
    add_sums(rows.row(r));
    add_values(rows.row(r));
    if ((first + r) / stride % rows_a_kept_one == 0) keep(rows.row(r));
  }
}

/// If all values are whole numbers within the range of a byte, adds only the least and the largest, which
/// determine the grid.
bool RowSample::take_few_whole_numbers() {
  const float least = *std::min_element(least_.begin(), least_.end()),
              most = *std::max_element(most_.begin(), most_.end());
  constexpr double most_steps = spi::most_on_grid - spi::least_on_grid;
  if (!whole_ || static_cast<double>(most) - static_cast<double>(least) > most_steps) return false;
  values_.add(least);
  values_.add(most);
  return true;
}

SampledValues RowSample::values(Metric metric, Element element) const {
  SampledValues values{centre(metric)};
  if (compares_bits(metric)) return values;
  const FloatGuard guard;
  values.clip_range = clip_range(values.centre);
  values.grid = grid_of_values(values_, metric, element);
  values.half_bytes = half_bytes_of(kept_, values.centre, values.clip_range);
  if (sums_squares(metric)) values.spread = spread_of_distances(kept_, values.centre);
  return values;
}

std::vector<float> RowSample::centre(Metric metric) const {
  std::vector<float> centre(sum_.size());
  if (!sums_squares(metric)) return centre;
  const FloatGuard guard;
  for (std::size_t d = 0; d < sum_.size(); ++d) {
    const double mean = sum_[d] / static_cast<double>(samples_);
    centre[d] = static_cast<float>(whole_ ? std::round(mean) : mean);
  }
  return centre;
}

double RowSample::clip_range(const std::vector<float>& centre) const {
  const FloatGuard guard;
  double most = 0;
  for (std::size_t d = 0; d < centre.size(); ++d)
    for (const float value : {least_[d], most_[d]})
      most = std::max(most, std::fabs(static_cast<double>(value) - static_cast<double>(centre[d])));
  return most;
}

SampledValues sampled_values(MatrixView<const float> rows, Metric metric, Element element,
                             std::uint32_t threads) {
  RowSample sample(rows.cols());
  if (compares_bits(metric)) return sample.values(metric, element);
  const FloatGuard guard;
  const std::int64_t stride = sample_stride(rows.rows());
  sample.add_sums(rows, stride, threads);
  if (follows_from_products(metric) && !sample.take_few_whole_numbers())
    for (std::int64_t r = 0; r < rows.rows() && !sample.values_.too_many(); r += stride)
      sample.add_values(rows.row(r));
  for (std::int64_t r = 0; r < rows.rows(); r += stride * rows_a_kept_one) sample.keep(rows.row(r));
  return sample.values(metric, element);
}

}  // namespace kith
