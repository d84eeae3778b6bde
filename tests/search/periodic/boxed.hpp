// Rows in a periodic box for tests, and an oracle, which is written from docs/contract.md, section 3.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/index.hpp"

namespace kith::tests {

using Lengths = std::vector<double>;

inline constexpr Metric box_metrics[] = {Metric::squared_l2, Metric::l2, Metric::l1, Metric::linf};

inline IndexOptions in_box(Lengths lengths) {
  return {.box = std::move(lengths)};
}

/// Moves a value into the box, in double precision, and rounds it.
inline float moved_by_contract(double x, double length) {
  if (length == 0) return static_cast<float>(x);
  double rest = std::fmod(x, length);
  if (rest < 0) rest += length;
  const auto rounded = static_cast<float>(rest);
  return rounded >= static_cast<float>(length) ? 0.0f : rounded;
}

inline std::vector<float> moved_by_contract(const std::vector<double>& rows, const Lengths& box) {
  std::vector<float> moved;
  for (std::size_t i = 0; i < rows.size(); ++i)
    moved.push_back(moved_by_contract(rows[i], box[i % box.size()]));
  return moved;
}

/// Returns the chain of a query and a row that are in the box.
inline float chain_in_box(Metric metric, const float* query, const float* row, const Lengths& box) {
  float s = 0;
  for (std::size_t d = 0; d < box.size(); ++d) {
    float t = std::fabs(query[d] - row[d]);
    if (box[d] > 0) t = std::min(t, static_cast<float>(box[d]) - t);
    s = metric == Metric::l1 ? s + t : metric == Metric::linf ? std::max(s, t) : std::fma(t, t, s);
  }
  return s;
}

/// Has the keys of all rows for each query, ascending.
using AllKeys = std::vector<std::vector<Key>>;

/// Holds rows and queries, and computes what a search of them should find.
struct Boxed {
  Lengths box;
  std::vector<double> train, queries;
  Metric metric;

  std::int64_t dims() const { return static_cast<std::int64_t>(box.size()); }
  std::int64_t n() const { return static_cast<std::int64_t>(train.size()) / dims(); }
  std::int64_t m() const { return static_cast<std::int64_t>(queries.size()) / dims(); }
  MatrixView<const double> rows() const { return {train.data(), n(), dims()}; }
  MatrixView<const double> asked() const { return {queries.data(), m(), dims()}; }
  Index index(const IndexOptions& options = {}) const {
    IndexOptions own = options;
    own.box = box;
    own.arithmetic = Arithmetic::f32;
    return Index(device(), rows(), metric, own);
  }

  AllKeys keys() const {
    const std::vector<float> b = moved_by_contract(train, box), a = moved_by_contract(queries, box);
    AllKeys all;
    for (std::int64_t q = 0; q < m(); ++q) {
      std::vector<Key> list;
      for (std::int64_t t = 0; t < n(); ++t)
        list.push_back(make_key(chain_in_box(metric, a.data() + q * dims(), b.data() + t * dims(), box),
                                static_cast<std::uint32_t>(t)));
      std::sort(list.begin(), list.end());
      all.push_back(std::move(list));
    }
    return all;
  }
  float shown(Key key) const {
    const float value = value_of(key);
    return metric == Metric::l2 ? std::sqrt(value) : value;
  }
  Neighbors nearest(std::int64_t k) const { return nearest(k, keys()); }
  Neighbors nearest(std::int64_t k, const AllKeys& keys) const {
    Neighbors right{m(), k, {}, {}};
    for (const std::vector<Key>& list : keys)
      for (std::int64_t i = 0; i < k; ++i) {
        right.distance.push_back(shown(list[size(i)]));
        right.row.push_back(row_of(list[size(i)]));
      }
    return right;
  }
  RadiusNeighbors within(double radius) const { return within(radius, keys()); }
  RadiusNeighbors within(double radius, const AllKeys& keys) const {
    RadiusNeighbors right{m(), {0}, {}, {}};
    for (const std::vector<Key>& list : keys) {
      for (const Key key : list) {
        if (static_cast<double>(shown(key)) > radius) break;
        right.distance.push_back(shown(key));
        right.row.push_back(row_of(key));
      }
      right.first.push_back(static_cast<std::int64_t>(right.row.size()));
    }
    return right;
  }
};

/// Returns values from `least` to `most`.
inline std::vector<double> spread_values(std::size_t count, double least, double most, std::uint64_t seed) {
  std::vector<double> values;
  std::uint64_t state = seed;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values.push_back(least + (most - least) * (static_cast<double>(state >> 11u) * 0x1p-53));
  }
  return values;
}

inline Boxed some_boxed(Lengths box, Metric metric, std::int64_t n, std::int64_t m) {
  const std::size_t dims = box.size();
  return {std::move(box), spread_values(size(n) * dims, -7, 13, 5), spread_values(size(m) * dims, -9, 12, 6),
          metric};
}

/// Checks all searches of an Index of `of`, by boxes where `boxes` says so.
inline void check_all(const Boxed& of, const Index& index, std::optional<bool> boxes) {
  SearchOptions how{.boxes = boxes};
  const AllKeys keys = of.keys();
  CHECK(difference(index.search(of.asked(), 7, how), of.nearest(7, keys)) == "");
  for (const double radius : {0.0, 0.9, 2.5}) {
    CAPTURE(radius);
    const RadiusNeighbors right = of.within(radius, keys);
    const auto rounded = static_cast<float>(radius);
    CHECK(index.within(of.asked(), {&rounded, 1}, how) == of.within(static_cast<double>(rounded), keys));
    const std::vector<double> radii{radius};
    std::vector<std::int64_t> counts;
    for (std::size_t q = 0; q + 1 < right.first.size(); ++q)
      counts.push_back(right.first[q + 1] - right.first[q]);
    CHECK(index.count(of.asked(), {.radius = {radii.data(), 1, 1}}, how) == counts);
  }
}

}  // namespace kith::tests
