#include "boxes/box_order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "host/parallel.hpp"
#include "kith/spi/boxes.hpp"

namespace kith {
namespace {

constexpr std::size_t leaf_rows = spi::box_rows;
constexpr std::size_t leaves_a_block = spi::box_rows;  // the boxes of a block are a part, too
constexpr std::size_t looked_at = 256;  // rows sampled to choose a column to split; any column is valid
constexpr std::size_t parts_a_thread = 8;
constexpr std::size_t work_a_row = 200;  // elementary operations per row, for all splits together

/// Returns the number of leaves in the left half of a part. It is a power of two, so that every box of 32
/// boxes is also a part.
std::size_t left_of(std::size_t leaves) {
  return std::bit_floor(leaves - 1);
}

}  // namespace

/// Moves items so that none before `middle` has a larger value, and none from it on a smaller one, as
/// std::nth_element does. Most of the work is partitions that take no branch for an item. Pivots come from
/// samples, from that side of `middle` which leaves fewer items.
/// Source: Floyd, Rivest, Expected time bounds for selection, 1975.
void BoxOrder::select(Item* begin, Item* middle, Item* end) {
  constexpr std::ptrdiff_t few = 64;  // soon sorted by other means
  constexpr std::size_t most = 64, fewest = 16, rounds = 8;
  for (std::size_t round = 0; round < rounds && end - begin > few; ++round) {
    const auto count = static_cast<std::size_t>(end - begin);
    const std::size_t samples = count > most * few ? most : fewest;
    std::array<float, most> sample;
    for (std::size_t i = 0; i < samples; ++i) sample[i] = begin[i * count / samples].value;
    std::sort(sample.begin(), sample.begin() + samples);
    const std::size_t at = static_cast<std::size_t>(middle - begin) * samples / count,
                      margin = samples / 16 + 1;
    const bool left = 2 * at < samples;  // whether `middle` is likely to be left of the pivot
    const float pivot = sample[left ? std::min(at + margin, samples - 1) : at - std::min(at, margin)];
    Item* to = begin;
    for (Item* from = begin; from < end; ++from) {
      const bool goes_left = left ? from->value < pivot : from->value <= pivot;
      std::uint64_t item, other;  // moved as a whole, or the next load would wait for two stores
      static_assert(sizeof item == sizeof(Item));
      std::memcpy(&item, from, sizeof item);
      std::memcpy(&other, to, sizeof other);
      std::memcpy(from, &other, sizeof other);
      std::memcpy(to, &item, sizeof item);
      to += goes_left ? 1 : 0;
    }
    if (to == begin || to == end) break;  // many are equal
    (middle < to ? end : begin) = to;
  }
  std::nth_element(begin, middle, end, [](const Item& a, const Item& b) { return a.value < b.value; });
}

/// Splits a part in two at the median of its widest column. Returns the number of leaves in the first half.
std::size_t BoxOrder::split(const MatrixView<const float>& rows, std::vector<Item>& items, Part part) {
  const std::size_t first = part.first_leaf * leaf_rows,
                    end = std::min((part.first_leaf + part.leaves) * leaf_rows, items.size());
  const std::size_t stride = std::max<std::size_t>(1, (end - first) / looked_at);
  std::uint32_t column = 0;
  float furthest = -1;
  for (std::int64_t d = 0; d < rows.cols(); ++d) {
    float least = rows.row(items[first].row)[d], largest = least;
    for (std::size_t i = first; i < end; i += stride) {
      const float value = rows.row(items[i].row)[d];
      least = std::min(least, value);
      largest = std::max(largest, value);
    }
    const float reach = largest / 2 - least / 2;
    if (reach > furthest) furthest = reach, column = static_cast<std::uint32_t>(d);
  }
  for (std::size_t i = first; i < end; ++i) items[i].value = rows.row(items[i].row)[column];
  const std::size_t left = left_of(part.leaves), middle = first + left * leaf_rows;
  select(items.data() + first, items.data() + middle, items.data() + end);
  splits_[part.first_leaf + left] = {column, items[middle].value};
  return left;
}

void BoxOrder::split_all(const MatrixView<const float>& rows, std::vector<Item>& items, Part part) {
  while (part.leaves > 1) {
    const std::size_t left = split(rows, items, part);
    split_all(rows, items, {part.first_leaf, left});
    part = {part.first_leaf + left, part.leaves - left};
  }
}

BoxOrder::BoxOrder(MatrixView<const float> rows, std::uint32_t threads, const std::function<void()>& check)
    : leaves_((size(rows.rows()) + leaf_rows - 1) / leaf_rows),
      splits_(leaves_),
      numbers_(size(rows.rows())) {
  const FloatGuard guard;
  std::vector<Item> items(numbers_.size());
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = {0, static_cast<std::uint32_t>(i)};
  const std::uint32_t team = team_size(threads);
  // All threads first halve the large parts; then each thread splits parts by itself.
  std::vector<Part> parts{{0, leaves_}};
  while (parts.size() < team * parts_a_thread && parts.size() * parts_a_thread < leaves_) {
    check();
    std::vector<Part> halves(2 * parts.size());
    run_team(parts.size(), items.size() * 16, team, [&](std::size_t i, std::size_t) {
      const std::size_t left = parts[i].leaves > 1 ? split(rows, items, parts[i]) : parts[i].leaves;
      halves[2 * i] = {parts[i].first_leaf, left};
      halves[2 * i + 1] = {parts[i].first_leaf + left, parts[i].leaves - left};
    });
    std::erase_if(halves, [](const Part& part) { return part.leaves == 0; });
    parts = std::move(halves);
  }
  const std::size_t at_once = team * parts_a_thread / 2;
  for (std::size_t begin = 0; begin < parts.size(); begin += at_once) {
    check();
    run_team(std::min(at_once, parts.size() - begin), items.size() * work_a_row, team,
             [&](std::size_t i, std::size_t) { split_all(rows, items, parts[begin + i]); });
  }
  for (std::size_t i = 0; i < items.size(); ++i) numbers_[i] = items[i].row;
}

std::size_t BoxOrder::leaf_of(const float* query, std::size_t grain) const {
  Part part{0, leaves_};
  while (part.leaves > grain) {
    const std::size_t left = left_of(part.leaves);
    const Split& at = splits_[part.first_leaf + left];
    part = query[at.column] < at.value ? Part{part.first_leaf, left}
                                       : Part{part.first_leaf + left, part.leaves - left};
  }
  return part.first_leaf;
}

std::vector<std::uint32_t> BoxOrder::order_of(MatrixView<const float> queries, std::uint32_t threads) const {
  const std::size_t m = size(queries.rows());
  // Few queries share no leaves, and the last splits of each are cache misses.
  const std::size_t grain = m < leaves_ ? leaves_a_block : 1;
  std::vector<std::uint32_t> places(m), order(m), begins(leaves_ / grain + 2);
  constexpr std::int64_t a_share = 128;
  parallel_for(
      (queries.rows() + a_share - 1) / a_share, queries.rows() * 32, threads, [&](std::int64_t share) {
        for (std::int64_t q = share * a_share; q < std::min((share + 1) * a_share, queries.rows()); ++q)
          places[size(q)] = static_cast<std::uint32_t>(leaf_of(queries.row(q), grain) / grain);
      });
  for (const std::uint32_t place : places) ++begins[place + 1];
  for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  for (std::size_t q = 0; q < m; ++q) order[begins[places[q]]++] = static_cast<std::uint32_t>(q);
  return order;
}

std::size_t BoxOrder::bytes() const {
  return splits_.size() * sizeof(Split) + numbers_.size() * sizeof(std::uint32_t);
}

}  // namespace kith
