// Puts rows in order and into boxes, and searches these.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "boxes/curve.hpp"
#include "boxes/cuts.hpp"
#include "boxes/packed_boxes.hpp"
#include "check/plain/plain_memory.hpp"
#include "check/plain/plain_steps.hpp"
#include "metric/chain.hpp"

namespace kith::spi {
namespace {

/// Passes the key of query q and each row in boxes that counts to take(key).
///   step  a BoxesStep or a CountStep
template <class Step, class Take>
void each_row_in_boxes(const Step& s, std::size_t q, const Take& take) {
  const std::size_t dims = s.queries.dims;
  const float* const rows =
      reinterpret_cast<const float*>(static_cast<const PlainMemory*>(s.train.rows.memory)->data.data());
  std::vector<float> row(dims);
  for (std::size_t place = 0; place < s.train.rows.rows; ++place) {
    const std::uint32_t t = row_of_grid(s.train.numbers, 0)[place];
    if (s.filter.cols > 0 &&
        row_of_grid(s.filter, s.filter.rows == 1 ? 0 : q)[t / 32] / (1u << t % 32) % 2 == 0)
      continue;
    for (std::size_t d = 0; d < dims; ++d)
      row[d] = rows[(place / box_rows * dims + d) * box_rows + place % box_rows];
    take(make_key(chain(s.metric, row_at(s.queries, q), row, terms_of(s.train.rows)), t));
  }
}

}  // namespace

/// Skips no box, so that no leaf is counted.
void plain(const BoxesStep& s) {
  for (std::size_t q = 0; q < s.queries.rows; ++q) {
    std::vector<Key> keys;
    each_row_in_boxes(s, q, [&](Key key) {
      if (s.within.cols == 0 || value_of(key) <= *row_of_grid(s.within, q)) keys.push_back(key);
    });
    put_smallest(std::move(keys), s.k, row_of_grid(s.out, q));
    *row_of_grid(s.leaves, q) = 0;
  }
}

void plain(const CountStep& s) {
  for (std::size_t q = 0; q < s.queries.rows; ++q) {
    std::uint32_t* const counts = row_of_grid(s.counts, q);
    std::fill_n(counts, s.bounds.cols, 0u);
    const float* const bounds = row_of_grid(s.bounds, s.bounds.rows == 1 ? 0 : q);
    each_row_in_boxes(s, q, [&](Key key) {
      for (std::size_t r = 0; r < s.bounds.cols; ++r) counts[r] += value_of(key) <= bounds[r] ? 1 : 0;
    });
    *row_of_grid(s.leaves, q) = 0;
  }
}

namespace {

/// Joins the rows of all parts, which are in blocks of one row.
std::vector<float> rows_of_parts(const std::vector<RowBlocks>& parts) {
  std::vector<float> all;
  for (const RowBlocks& part : parts)
    for (std::size_t r = 0; r < part.rows; ++r) {
      const std::span<const float> row = row_at(part, r);
      all.insert(all.end(), row.begin(), row.end());
    }
  return all;
}

}  // namespace

void plain(const OrderStep& s) {
  const std::uint32_t dims = s.rows.front().dims, all_bits = curve_columns(dims) * curve_bits(dims);
  const std::uint32_t dropped = all_bits - std::min(all_bits, s.bits);
  const std::vector<float> rows = rows_of_parts(s.rows);
  if (!s.cuts.empty()) {
    const std::vector<std::uint32_t> order =
        order_by_cuts({rows.data(), static_cast<std::int64_t>(s.out.cols), dims}, s.cuts);
    std::copy(order.begin(), order.end(), row_of_grid(s.out, 0));
    return;
  }
  std::vector<std::pair<std::uint64_t, std::uint32_t>> places;
  for (std::uint32_t r = 0; r < s.out.cols; ++r)
    places.emplace_back(
        place_along_curve(rows.data() + std::size_t{r} * dims, dims, row_of_grid(s.frame, 0)) >> dropped, r);
  std::sort(places.begin(), places.end());
  for (std::size_t i = 0; i < places.size(); ++i) row_of_grid(s.out, 0)[i] = places[i].second;
}

void plain(const PackBoxesStep& s) {
  const std::vector<float> rows = rows_of_parts(s.rows);
  const std::uint32_t dims = s.rows.front().dims;
  std::uint32_t* const begin = row_of_grid(s.numbers, 0);
  std::vector<std::uint32_t> numbers(begin, begin + s.numbers.cols);
  const MatrixView<const float> view(rows.data(), static_cast<std::int64_t>(rows.size() / dims), dims);
  if (s.bounds.cols > 0) halve_parts(view, numbers);
  std::copy(numbers.begin(), numbers.end(), begin);
  const PackedBoxes boxes = packed_boxes(view, numbers, 1);
  std::copy(boxes.rows.begin(), boxes.rows.end(), row_of_grid(s.packed, 0));
  if (s.bounds.cols > 0) std::copy(boxes.bounds.begin(), boxes.bounds.end(), row_of_grid(s.bounds, 0));
}

}  // namespace kith::spi
