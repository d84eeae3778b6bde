#include "search/doubles/double_sink.hpp"

#include <algorithm>
#include <limits>

#include "base/numbers.hpp"
#include "kith/key.hpp"
#include "metric/chain.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

/// Gives a vector `cells` elements of any value.
template <class T>
void fit(std::vector<T>& values, std::size_t cells) {
  if (values.capacity() < cells) values.clear();  // so that resize() copies no old values
  values.resize(cells);
}

}  // namespace

void DoubleNeighborsSink::begin(std::int64_t m, std::int64_t k) {
  found_.queries = m;
  found_.k = k;
  found_.arithmetic = Arithmetic::f64;
  found_.distance.clear();
  fit(found_.distance64, cells_of(m, k));
  fit(found_.row, cells_of(m, k));
}

void DoubleNeighborsSink::put(std::int64_t query, std::span<const RankedRow> nearest) {
  const std::size_t begin = size(query * found_.k), end = begin + size(found_.k);
  std::size_t at = begin;
  for (const RankedRow& one : nearest) {
    found_.distance64[at] = finish(shown_, unordered_double(one.value));
    found_.row[at++] = one.row;
  }
  for (; at < end; ++at) {
    found_.distance64[at] = std::numeric_limits<double>::infinity();
    found_.row[at] = -1;
  }
}

void DoubleKeysSink::begin(std::int64_t m, std::int64_t) {
  to_ = {};
  to_.queries = m;
  to_.k = k_;
  to_.arithmetic = Arithmetic::f64;
  to_.value64.resize(cells_of(m, k_));
  to_.row.resize(cells_of(m, k_));
}

void DoubleKeysSink::put(std::int64_t query, std::span<const RankedRow> nearest) {
  const std::size_t begin = size(query * k_), end = begin + size(k_);
  std::size_t at = begin;
  for (const RankedRow& one : nearest) {
    to_.value64[at] = one.value;
    to_.row[at++] = numbers_.first_row + numbers_.numbers.number(one.row);
  }
  for (; at < end; ++at) {
    to_.value64[at] = no_double;
    to_.row[at] = -1;
  }
}

}  // namespace kith
