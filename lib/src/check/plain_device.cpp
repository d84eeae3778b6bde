// Does each step as directly as the contract can be written down. Every other device is compared with this
// one; only the tests have another oracle.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "boxes/curve.hpp"
#include "boxes/cuts.hpp"
#include "boxes/packed_boxes.hpp"
#include "kith/spi/refusals.hpp"
#include "kith/spi/step_runner.hpp"
#include "metric/chain.hpp"
#include "rows/landed/byte_grid.hpp"
#include "rows/landing.hpp"
#include "rows/rows.hpp"

namespace kith::spi {
namespace {

struct PlainMemory : Allocation {
  explicit PlainMemory(std::size_t size) : Allocation(size), data(size / sizeof(Key) + 1) {}
  std::vector<Key> data;  ///< memory of the largest element type, so that all types are aligned
};

template <class T>
T* row_of_grid(const Grid<T>& grid, std::size_t row) {
  auto* const data = reinterpret_cast<T*>(static_cast<PlainMemory*>(grid.memory)->data.data());
  return data + grid.first + row * grid.stride;
}

/// Returns row r of blocks of one row.
std::span<const float> row_at(const RowBlocks& rows, std::size_t r) {
  const auto& data = static_cast<const PlainMemory*>(rows.memory)->data;
  return {reinterpret_cast<const float*>(data.data()) + (rows.first + r) * rows.dims, rows.dims};
}

/// Returns the parameters of terms; nothing if chains take differences.
std::span<const float> terms_of(const RowBlocks& rows) {
  if (!rows.terms) return {};
  const auto& data = static_cast<const PlainMemory*>(rows.terms)->data;
  return {reinterpret_cast<const float*>(data.data()), rows.dims};
}

/// Writes the k smallest of `keys`, padded with no_key.
void put_smallest(std::vector<Key> keys, std::size_t k, Key* to) {
  std::sort(keys.begin(), keys.end());
  keys.resize(k, no_key);
  std::copy(keys.begin(), keys.end(), to);
}

/// Writes a list for each part of each row, from the pairs that are not masked. value_of(q, t) is that of
/// column t.
template <class Value>
void put_lists(std::size_t m, std::size_t n, std::uint32_t first_row, std::size_t k, std::size_t lists,
               const Grid<Key>& out, const Value& value_of) {
  const std::size_t part = (n + lists - 1) / lists;
  for (std::size_t q = 0; q < m; ++q)
    for (std::size_t g = 0; g < lists; ++g) {
      std::vector<Key> keys;
      for (std::size_t t = g * part; t < std::min(n, (g + 1) * part); ++t) {
        const float value = value_of(q, t);
        if (std::bit_cast<std::uint32_t>(value) != masked_bits)
          keys.push_back(make_key(value, first_row + static_cast<std::uint32_t>(t)));
      }
      put_smallest(std::move(keys), k, row_of_grid(out, q) + g * k);
    }
}

/// Returns the number of candidates in the list of query q.
std::size_t listed(const Grid<std::uint32_t>& counts, std::size_t q, std::size_t capacity) {
  return std::min<std::size_t>(*row_of_grid(counts, q), capacity);
}

void plain(const DistanceStep& s) {
  for (std::size_t q = 0; q < s.queries.rows; ++q)
    for (std::size_t t = 0; t < s.train.rows; ++t)
      row_of_grid(s.out, q)[t] =
          chain(s.metric, row_at(s.queries, q), row_at(s.train, t), terms_of(s.train), s.train.bits);
}

void plain(const SelectStep& s) {
  put_lists(s.distances.rows, s.distances.cols, s.first_row, s.k, s.lists, s.out,
            [&](std::size_t q, std::size_t t) { return row_of_grid(s.distances, q)[t]; });
}

void plain(const NearestStep& s) {
  put_lists(s.queries.rows, s.train.rows, s.first_row, s.k, s.lists, s.out,
            [&](std::size_t q, std::size_t t) {
              return chain(s.metric, row_at(s.queries, q), row_at(s.train, t));
            });
}

void plain(const GroupsStep& s) {
  const std::uint32_t *const of_queries = row_of_grid(s.query_borders, 0), *const of_rows =
                                                                               row_of_grid(s.row_borders, 0);
  for (std::size_t g = 0; g + 1 < s.row_borders.cols; ++g)
    for (std::uint32_t q = of_queries[g]; q < of_queries[g + 1]; ++q) {
      if (q < s.first_query || q - s.first_query >= s.queries.rows) continue;
      std::vector<Key> keys;
      for (std::uint32_t t = of_rows[g]; t < of_rows[g + 1]; ++t) {
        if (s.own >= 0 && t == static_cast<std::uint32_t>(s.own) + q) continue;
        const float value =
            chain(s.metric, row_at(s.queries, q - s.first_query), row_at(s.train, t - s.first_row));
        keys.push_back(make_key(value, t - (s.from_group ? of_rows[g] : 0)));
      }
      put_smallest(std::move(keys), s.k, row_of_grid(s.out, q - s.first_query));
    }
}

void plain(const MergeStep& s) {
  for (std::size_t q = 0; q < s.in.rows; ++q) {
    const Key* const lists = row_of_grid(s.in, q);
    put_smallest({lists, lists + std::size_t{s.lists} * s.k}, s.k, row_of_grid(s.out, q));
  }
}

void plain(const CollectStep& s) {
  for (std::size_t q = 0; q < s.values.rows; ++q) {
    std::uint32_t& count = *row_of_grid(s.out.counts, q);
    for (std::size_t t = 0; t < s.values.cols; ++t) {
      if (!(row_of_grid(s.values, q)[t] <= *row_of_grid(s.threshold, q))) continue;
      if (count < s.out.rows.cols)
        row_of_grid(s.out.rows, q)[count] = s.first_row + static_cast<std::uint32_t>(t);
      ++count;
    }
  }
}

void plain(const RerankStep& s) {
  for (std::size_t q = 0; q < s.queries.rows; ++q)
    for (std::size_t j = 0; j < listed(s.candidates.counts, q, s.out.cols); ++j) {
      const std::uint32_t t = row_of_grid(s.candidates.rows, q)[j];
      row_of_grid(s.out, q)[j] =
          make_key(chain(s.metric, row_at(s.queries, q), row_at(s.train, t - s.first_row)), t);
    }
}

void plain(const DoubleChainsStep& s) {
  const std::size_t dims = s.train.cols;
  std::span<const double> terms;
  if (s.terms.cols > 0) terms = {row_of_grid(s.terms, 0), dims};
  for (std::size_t q = 0; q < s.rows.rows; ++q)
    for (std::size_t j = 0; j < s.rows.cols; ++j) {
      const std::uint32_t row = row_of_grid(s.rows, q)[j] - s.first_row;
      if (row < s.train.rows)
        row_of_grid(s.values, q)[j] =
            chain(s.metric, std::span<const double>(row_of_grid(s.queries, q), dims),
                  std::span<const double>(row_of_grid(s.train, row), dims), terms);
    }
}

void plain(const TightenStep& s) {
  for (std::size_t q = 0; q < s.best.rows; ++q) {
    Key* const best = row_of_grid(s.best, q);
    const Key* const keys = row_of_grid(s.keys, q);
    std::vector<Key> all(best, best + s.k);
    all.insert(all.end(), keys, keys + listed(s.counts, q, s.keys.cols));
    put_smallest(std::move(all), s.k, best);
    *row_of_grid(s.threshold, q) = kith::value_of(best[s.k - 1]);
    std::uint32_t& count = *row_of_grid(s.counts, q);
    if (count > s.keys.cols) *row_of_grid(s.lost, q) = 1;
    count = 0;
  }
}

void plain(const VoteStep& s) {
  const std::uint32_t* const labels = row_of_grid(s.labels, 0);
  for (std::size_t q = 0; q < s.nearest.rows; ++q) {
    std::uint32_t* const counts = row_of_grid(s.counts, q);
    std::fill(counts, counts + s.classes, 0u);
    bool voted = false;
    for (std::size_t j = 0; j < s.nearest.cols; ++j) {
      const Key key = row_of_grid(s.nearest, q)[j];
      if (key == no_key) continue;
      ++counts[labels[kith::row_of(key)]];
      voted = true;
    }
    const auto most = std::max_element(counts, counts + s.classes) - counts;
    *row_of_grid(s.winner, q) = voted ? static_cast<std::uint32_t>(most) : no_row;
  }
}

void plain(const MaskStep& s) {
  for (std::size_t q = 0; q < s.distances.rows; ++q)
    for (std::size_t c = 0; c < s.distances.cols; ++c) {
      const std::size_t t = s.first_row + c;
      const std::uint32_t word = row_of_grid(s.filter, s.filter.rows == 1 ? 0 : q)[t / 32];
      float& distance = row_of_grid(s.distances, q)[c];
      if (s.from.cols > 0) distance = row_of_grid(s.from, q)[c];
      if (word / (1u << t % 32) % 2 == 0) distance = std::bit_cast<float>(masked_bits);
    }
}

void plain(const ScoreStep& s) {
  for (std::size_t q = 0; q < s.nearest.rows; ++q) {
    float* const sums = row_of_grid(s.sums, q);
    std::fill(sums, sums + s.classes, 0.0f);
    for (std::size_t j = 0; j < s.nearest.cols; ++j) {
      const Key key = row_of_grid(s.nearest, q)[j];
      if (key != no_key) sums[row_of_grid(s.labels, 0)[kith::row_of(key)]] += row_of_grid(s.weights, q)[j];
    }
  }
}

void plain(const AccumulateStep& s) {
  for (std::size_t q = 0; q < s.distances.rows; ++q)
    for (std::size_t t = 0; t < s.distances.cols; ++t) {
      const std::size_t c = row_of_grid(s.labels, 0)[t];
      float x = row_of_grid(s.distances, q)[t];
      if (x == 0) x = 0;  // makes -0 +0
      float &smallest = row_of_grid(s.smallest, q)[c], &high = row_of_grid(s.high, q)[c],
            &low = row_of_grid(s.low, q)[c];
      smallest = std::fmin(smallest, x);
      const float sum = high + x;
      // The rounding error of a sum is a float, and one subtraction from the larger addend gives it
      // (Dekker 1971).
      if (std::isfinite(sum)) low += std::fabs(high) >= std::fabs(x) ? x - (sum - high) : high - (sum - x);
      high = sum;
    }
}

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

void plain(const LandStep& s) {
  const auto* const bytes =
      reinterpret_cast<const unsigned char*>(static_cast<const PlainMemory*>(s.from.memory)->data.data());
  const bool counts = s.from.element != Element::bits;
  std::vector<float> row(static_cast<std::size_t>(landed_cols(s.from.element, s.from.cols)));
  for (std::size_t r = 0; r < s.from.rows; ++r) {
    const std::uint32_t at = s.chosen.cols > 0 ? row_of_grid(s.chosen, 0)[r] : static_cast<std::uint32_t>(r);
    land_row(s.from.element, bytes + s.from.first + at * s.from.stride, s.from.cols, row.data());
    std::span<const float> to = row_at(s.out, r);
    for (std::size_t d = 0; d < s.out.dims; ++d) {
      const float value = row[s.columns.cols > 0 ? row_of_grid(s.columns, 0)[d] : d];
      const_cast<float&>(to[d]) = value;
      const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFu;
      std::uint32_t* const found = row_of_grid(s.found, 0);
      if (!counts) continue;
      found[largest_bits] = std::max(found[largest_bits], magnitude);
      if (magnitude >= 0x7F800000u) found[bad_row] = std::min(found[bad_row], s.first_row + at);
      const bool asked = s.grid.step != 0;
      if (asked && !lies_on({s.grid.centre, s.grid.scale, true}, &value, 1)) found[off_grid] = 1;
    }
  }
}

void plain(const UnitStep& s) {
  std::vector<float> row(s.rows.dims), unit(s.rows.dims);
  std::uint32_t* const found = row_of_grid(s.found, 0);
  for (std::size_t r = 0; r < s.rows.rows; ++r) {
    const auto to = row_at(s.rows, r);
    for (std::size_t d = 0; d < row.size(); ++d) row[d] = to[d];
    if (!make_unit_row(row.data(), s.rows.dims, unit.data())) {
      found[zero_row] = std::min(found[zero_row], s.first_row + static_cast<std::uint32_t>(r));
      continue;
    }
    for (std::size_t d = 0; d < row.size(); ++d) {
      const_cast<float&>(to[d]) = unit[d];
      found[largest_unit_bits] =
          std::max(found[largest_unit_bits], std::bit_cast<std::uint32_t>(unit[d]) & 0x7FFFFFFFu);
    }
  }
}

void plain(const FinishStep& s) {
  for (std::size_t q = 0; q < s.distance.rows; ++q) {
    std::vector<Key> left;
    for (std::size_t j = 0; j < s.keys.cols; ++j) {
      const Key key = row_of_grid(s.keys, q)[j];
      if (key >> 32 == no_value) {
        left.push_back(no_key);
        continue;
      }
      const std::uint32_t place = s.places.cols > 0 ? row_of_grid(s.places, 0)[row_of(key)] : row_of(key);
      if (s.own >= 0 && place == s.own + static_cast<std::int64_t>(q)) continue;
      left.push_back(key >> 32 << 32 | place);
    }
    left.resize(s.distance.cols, no_key);
    finish(ShownBy(s.metric), left, row_of_grid(s.distance, q), row_of_grid(s.rows, q));
    for (std::size_t j = 0; j < s.distance.cols && s.numbers.cols > 0; ++j) {
      std::int64_t& row = row_of_grid(s.rows, q)[j];
      if (row >= 0) row = row_of_grid(s.numbers, 0)[row];
    }
  }
}

void plain(const PrepareStep&) {}
void plain(const RecoverStep&) {}
void plain(const PruneStep&) {}
void plain(const TightenByBoundsStep&) {}
void plain(const TightenBySampleStep&) {}

DeviceInfo plain_info() {
  DeviceInfo info;
  info.spec = info.backend = info.name = "plain";
  info.selectors = all_selectors();
  info.fused_max_k = info.boxes_max_k = std::numeric_limits<std::uint32_t>::max();
  return info;
}

struct PlainDevice : Device {
  PlainDevice() : Device(plain_info()) {}
  std::unique_ptr<Allocation> allocate(std::size_t bytes) override {
    return std::make_unique<PlainMemory>(bytes);
  }
  void write(Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override {
    std::memcpy(reinterpret_cast<char*>(static_cast<PlainMemory&>(to).data.data()) + offset, from, bytes);
  }
  void read(const Allocation& from, std::size_t offset, void* to, std::size_t bytes) override {
    std::memcpy(to, reinterpret_cast<const char*>(static_cast<const PlainMemory&>(from).data.data()) + offset,
                bytes);
  }
  void finish() override {}
  std::uint64_t mark() override { return 0; }
  double elapsed(std::uint64_t, std::uint64_t) override { return 0; }
  Support check(const Step& step) const override {
    const auto* const collect = std::get_if<CollectStep>(&step.work);
    const auto* const tighten = std::get_if<TightenStep>(&step.work);
    const bool proposed =
        std::holds_alternative<PrepareStep>(step.work) || std::holds_alternative<RecoverStep>(step.work) ||
        std::holds_alternative<PruneStep>(step.work) ||
        std::holds_alternative<TightenByBoundsStep>(step.work) ||
        std::holds_alternative<TightenBySampleStep>(step.work) ||
        (collect && collect->proposer != Proposer::none) ||
        (tighten && (tighten->proposer != Proposer::none || tighten->guessed || tighten->afresh));
    return {proposed ? "any bound will do, so there is no one right answer" : refusal_of(step), 0};
  }
  void enqueue(const Step& step) override {
    std::visit([](const auto& work) { plain(work); }, step.work);
  }
};

}  // namespace

std::unique_ptr<Device> plain_device() {
  return std::make_unique<PlainDevice>();
}

}  // namespace kith::spi
