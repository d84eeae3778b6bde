#include "self_test.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <vector>

#include "chain.hpp"
#include "kith/error.hpp"
#include "kith/key.hpp"
#include "plan_rules.hpp"
#include "self_test_parts.hpp"

namespace kith {
namespace {

constexpr std::uint32_t n = 61, m = 5, dims = 7, k = 9, groups = 3;
constexpr std::size_t pairs = std::size_t{m} * n, keys = std::size_t{m} * k, width = std::size_t{groups} * k;
constexpr Metric metric = Metric::squared_l2;

/// Rows that go wrong in the usual ways: squares that are subnormal, sums that a multiply followed
/// by an add rounds differently, overflow, ties. No two of those ways in one row.
std::vector<float> hard_rows(std::uint32_t rows, std::uint32_t salt, std::uint32_t columns = dims) {
  std::vector<float> values(static_cast<std::size_t>(rows) * columns);
  std::uint32_t state = 12345u + salt;
  for (std::size_t i = 0; i < values.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    const float unit = static_cast<float>(state >> 8) * 0x1p-24f;
    switch (i / columns % 5) {
      case 0:
        values[i] = unit;
        break;  // fma against mul and add
      case 1:
        values[i] = unit * 0x1p-70f;
        break;  // subnormal squares
      case 2:
        values[i] = static_cast<float>(state >> 30);
        break;  // ties
      case 3:
        values[i] = 1.0e4f + unit;
        break;  // cancellation
      default:
        values[i] = i % 2 ? 3.0e20f : -unit;
        break;  // overflow to infinity
    }
  }
  return values;
}

std::vector<float> pack(const std::vector<float>& rows, std::uint32_t count, std::uint32_t block) {
  const std::size_t padded = (count + block - 1) / block * static_cast<std::size_t>(block);
  const std::size_t columns = rows.size() / count;
  std::vector<float> packed(padded * columns);
  for (std::size_t r = 0; r < count; ++r)
    for (std::size_t d = 0; d < columns; ++d)
      packed[((r / block) * columns + d) * block + r % block] = rows[r * columns + d];
  return packed;
}

std::string bits(float value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.9g (0x%08x)", static_cast<double>(value),
                std::bit_cast<std::uint32_t>(value));
  return text;
}

/// What select gives for values [queries, rows], masked pairs left out: [queries, parts, k].
std::vector<Key> lists_of(const std::vector<float>& values, std::uint32_t first, std::uint32_t rows = n,
                          std::uint32_t parts = groups) {
  const std::uint32_t part = (rows + parts - 1) / parts;
  std::vector<Key> lists;
  for (std::size_t begin = 0; begin < values.size(); begin += rows)
    for (std::uint32_t g = 0; g < parts; ++g) {
      std::vector<Key> list;
      for (std::uint32_t t = std::min(rows, g * part); t < std::min(rows, (g + 1) * part); ++t) {
        const float value = values[begin + t];
        if (std::bit_cast<std::uint32_t>(value) != spi::masked_bits)
          list.push_back(make_key(value, first + t));
      }
      std::sort(list.begin(), list.end());
      list.resize(k, no_key);
      lists.insert(lists.end(), list.begin(), list.end());
    }
  return lists;
}

struct Reference {
  std::vector<float> queries = hard_rows(m, 7), train = hard_rows(n, 0);
  std::vector<float> values;  ///< [m, n]
  std::vector<Key> lists;     ///< [m, groups, k]
  std::vector<Key> nearest;   ///< [m, k]

  Reference() {
    for (std::uint32_t q = 0; q < m; ++q) {
      std::vector<Key> all;
      for (std::uint32_t t = 0; t < n; ++t) {
        const std::span<const float> query(queries.data() + std::size_t{q} * dims, dims),
            row(train.data() + std::size_t{t} * dims, dims);
        values.push_back(chain(metric, query, row));
        all.push_back(make_key(values.back(), t));
      }
      std::sort(all.begin(), all.end());
      nearest.insert(nearest.end(), all.begin(), all.begin() + k);
    }
    lists = lists_of(values, 0);
  }
};

/// What differs between results of `cols` columns, each a `column`: as a sentence; empty when nothing does.
std::string compare(const char* what, const char* column, std::size_t cols, const std::vector<float>& values,
                    const std::vector<float>& expected) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::bit_cast<std::uint32_t>(values[i]) != std::bit_cast<std::uint32_t>(expected[i]))
      return std::string(what) + " of test query " + std::to_string(i / cols) + " and " + column + " " +
             std::to_string(i % cols) + " came out as " + bits(values[i]) + " instead of " +
             bits(expected[i]);
  return {};
}

constexpr std::uint32_t classes = 3, first_row = 45, words = (first_row + n + 31) / 32;

/// Whether training row t counts for test query q.
bool counts(std::uint32_t q, std::uint32_t t) {
  return (t * 7 + q * 3) % 5 < 2;
}

/// Masked pairs beside hard values, in a tile that does not begin with a word; and that select takes
/// what counts, +infinity too, and nothing else.
std::string run_mask(spi::Device& device, const Reference& reference, Selector selector) {
  std::vector<std::uint32_t> filter_words(std::size_t{m} * words);
  std::vector<float> expected = reference.values;
  for (std::uint32_t q = 0; q < m; ++q)
    for (std::uint32_t t = first_row; t < first_row + n; ++t) {
      if (counts(q, t))
        filter_words[std::size_t{q} * words + t / 32] |= 1u << t % 32;
      else
        expected[std::size_t{q} * n + (t - first_row)] = std::bit_cast<float>(spi::masked_bits);
    }
  const auto filter = put(device, filter_words), values = put(device, reference.values);
  const auto lists = put(device, std::vector<Key>(m * width));
  const spi::Grid<float> value_grid{values.get(), 0, m, n, n};
  const spi::Grid<Key> list_grid{lists.get(), 0, m, width, width};
  const auto masked = result_of<float>(
      device, spi::MaskStep{{filter.get(), 0, m, words, words}, first_row, value_grid}, *values, pairs);
  std::string why = compare("masked distance", "row", n, masked, expected);
  if (!why.empty()) return why;
  auto selected = result_of<Key>(
      device, spi::SelectStep{selector, value_grid, first_row, k, groups, list_grid, {}}, *lists, m * width);
  for (Key& key : selected)
    if (key >> 32 == no_value) key = no_key;
  if (selected != lists_of(expected, first_row))
    return "selector " + std::string(name(selector)) + " selected other rows among masked ones in a test";
  return {};
}

/// Masked pairs in rows that are longer than a work-group.
std::string run_long_mask(spi::Device& device) {
  constexpr std::size_t rows = 2, cols = 700, row_words = (first_row + cols + 31) / 32;
  std::vector<std::uint32_t> filter_words(rows * row_words);
  std::vector<float> expected(rows * cols, 1);
  for (std::uint32_t q = 0; q < rows; ++q)
    for (std::uint32_t t = first_row; t < first_row + cols; ++t) {
      if (counts(q, t))
        filter_words[q * row_words + t / 32] |= 1u << t % 32;
      else
        expected[q * cols + (t - first_row)] = std::bit_cast<float>(spi::masked_bits);
    }
  const auto filter = put(device, filter_words), values = put(device, std::vector<float>(rows * cols, 1));
  const spi::MaskStep step{
      {filter.get(), 0, rows, row_words, row_words}, first_row, {values.get(), 0, rows, cols, cols}};
  return compare("masked distance", "row", cols, result_of<float>(device, step, *values, rows * cols),
                 expected);
}

std::vector<std::uint32_t> test_labels() {
  std::vector<std::uint32_t> labels(n);
  for (std::uint32_t t = 0; t < n; ++t) labels[t] = t % 7 % classes;
  return labels;
}

/// Sums whose bits depend on the order, and on subnormal numbers.
std::string run_tally(spi::Device& device, const Reference& reference) {
  const std::vector<std::uint32_t> labels = test_labels();
  std::vector<Key> nearest = reference.nearest;
  std::vector<float> weights(keys), expected(std::size_t{m} * classes);
  for (std::size_t i = 0; i < keys; ++i) {
    weights[i] = i % 4 == 0 ? 0x1p-140f * static_cast<float>(i) : 1 / static_cast<float>(i);
    if (i % 11 == 10)
      nearest[i] = no_key;
    else
      expected[i / k * classes + labels[row_of(nearest[i])]] += weights[i];
  }
  const auto keys_there = put(device, nearest);
  const auto weights_there = put(device, weights);
  const auto labels_there = put(device, labels);
  const auto sums = put(device, std::vector<float>(expected.size(), -1.0f));
  const auto found = result_of<float>(device,
                                      spi::TallyStep{{keys_there.get(), 0, m, k, k},
                                                     {weights_there.get(), 0, m, k, k},
                                                     {labels_there.get(), 0, 1, n, n},
                                                     classes,
                                                     {sums.get(), 0, m, classes, classes}},
                                      *sums, expected.size());
  return compare("sum of weights", "class", classes, found, expected);
}

/// Smallest and sum of the test distances, in two tiles: rounding, subnormal numbers, overflow.
std::string run_accumulate(spi::Device& device, const Reference& reference) {
  constexpr std::size_t sums = std::size_t{m} * classes, split = 40;
  const std::vector<std::uint32_t> labels = test_labels();
  std::vector<float> expected[3] = {std::vector<float>(sums, INFINITY), std::vector<float>(sums),
                                    std::vector<float>(sums)};
  const auto smallest = put(device, expected[0]), high = put(device, expected[1]),
             low = put(device, expected[2]), values = put(device, reference.values);
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::size_t at = i / n * classes + labels[i % n];
    const float x = reference.values[i], before = expected[1][at], sum = before + x;
    expected[0][at] = std::min(expected[0][at], x);
    if (std::isfinite(sum)) {
      const float part = sum - before;
      expected[2][at] += (before - (sum - part)) + (x - part);
    }
    expected[1][at] = sum;
  }
  const auto labels_there = put(device, labels);
  const auto grid = [&](const auto& memory) {
    return spi::Grid<float>{memory.get(), 0, m, classes, classes};
  };
  spi::AccumulateStep step{{values.get(), 0, m, split, n},
                           {labels_there.get(), 0, 1, split, split},
                           classes,
                           grid(smallest),
                           grid(high),
                           grid(low),
                           {}};
  result_of<float>(device, step, *low, sums);
  step.distances = {values.get(), split, m, n - split, n};
  step.labels = {labels_there.get(), split, 1, n - split, n - split};
  const std::vector<float> found_low = result_of<float>(device, step, *low, sums);
  std::vector<float> found(sums);
  device.read(*smallest, 0, found.data(), sums * sizeof(float));
  std::string why = compare("smallest distance", "class", classes, found, expected[0]);
  if (!why.empty()) return why;
  device.read(*high, 0, found.data(), sums * sizeof(float));
  why = compare("sum of distances", "class", classes, found, expected[1]);
  return why.empty() ? compare("rest of the sum", "class", classes, found_low, expected[2]) : why;
}

/// Searches by kernels that the small one above does not reach: those for many queries differ from those for
/// few, and so do those that keep a query of few columns in registers. Rows, or columns, come in more pieces
/// than one. The chain of inner products has a minus that compilers move.
struct Larger {
  Metric metric;
  std::uint32_t queries, rows, columns;
};
constexpr Larger larger[] = {
    {metric, m, 1100, dims}, {Metric::negative_dot, 67, 290, 3}, {Metric::negative_dot, 67, 60, 17}};

/// The fused search, for devices that have one.
std::string run_larger(spi::Device& device, const Larger& of) {
  const DeviceInfo& info = device.info;
  const std::vector<float> query_values = hard_rows(of.queries, 3, of.columns),
                           row_values = hard_rows(of.rows, 9, of.columns);
  std::vector<float> expected;
  for (std::size_t q = 0; q < of.queries; ++q)
    for (std::size_t t = 0; t < of.rows; ++t)
      expected.push_back(chain(of.metric, std::span(query_values).subspan(q * of.columns, of.columns),
                               std::span(row_values).subspan(t * of.columns, of.columns)));
  const auto queries = put(device, pack(query_values, of.queries, info.query_block));
  const auto train = put(device, pack(row_values, of.rows, info.train_block));
  const spi::RowBlocks query_rows{queries.get(), 0, of.queries, of.columns, info.query_block};
  const spi::RowBlocks train_rows{train.get(), 0, of.rows, of.columns, info.train_block};
  const std::size_t found = std::size_t{of.queries} * k;
  const auto lists = put(device, std::vector<Key>(found));
  const spi::Grid<Key> list_grid{lists.get(), 0, of.queries, k, k};
  const spi::NearestStep step{of.metric, query_rows, train_rows, 0, k, 1, list_grid, {}};
  if (result_of<Key>(device, step, *lists, found) == lists_of(expected, 0, of.rows, 1)) return {};
  return "the fused search of " + std::to_string(of.queries) + " queries among " + std::to_string(of.rows) +
         " rows of " + std::to_string(of.columns) + " columns by " + std::string(name(of.metric)) +
         " returned other rows in a test";
}

std::string run_steps(spi::Device& device) {
  const Reference reference;
  const DeviceInfo& info = device.info;
  const auto queries = put(device, pack(reference.queries, m, info.query_block));
  const auto train = put(device, pack(reference.train, n, info.train_block));
  const spi::RowBlocks query_rows{queries.get(), 0, m, dims, info.query_block};
  const spi::RowBlocks train_rows{train.get(), 0, n, dims, info.train_block};
  const auto values = put(device, std::vector<float>(pairs));
  const auto lists = put(device, std::vector<Key>(m * width));
  const auto nearest = put(device, std::vector<Key>(keys));
  const spi::Grid<float> value_grid{values.get(), 0, m, n, n};
  const spi::Grid<Key> list_grid{lists.get(), 0, m, width, width}, nearest_grid{nearest.get(), 0, m, k, k};

  std::string why = compare(
      "distance", "row", n,
      result_of<float>(device, spi::DistanceStep{metric, query_rows, train_rows, value_grid}, *values, pairs),
      reference.values);
  if (!why.empty()) return why;

  const auto run_fused = [&]() -> std::string {
    const spi::NearestStep step{metric, query_rows, train_rows, 0, k, groups, list_grid, {}};
    if (result_of<Key>(device, step, *lists, m * width) == reference.lists) return {};
    return "the fused search returned other rows in a test";
  };

  PlanOptions unfused;
  unfused.fused = false;
  const Selector selector = plan_problem(info, {metric, n, m, dims, k}, unfused).selector;
  const auto selected = result_of<Key>(
      device, spi::SelectStep{selector, value_grid, 0, k, groups, list_grid, {}}, *lists, m * width);
  if (selected != reference.lists)
    return "selector " + std::string(name(selector)) + " selected other rows in a test";
  const auto merged =
      result_of<Key>(device, spi::MergeStep{groups, k, list_grid, nearest_grid, {}}, *nearest, keys);
  if (merged != reference.nearest) return "merge returned other rows in a test";
  why = run_mask(device, reference, selector);
  if (why.empty()) why = run_long_mask(device);
  if (why.empty()) why = run_tally(device, reference);
  if (why.empty()) why = run_accumulate(device, reference);
  if (!why.empty() || info.fused_max_k < k) return why;
  why = run_fused();
  for (const Larger& of : larger)
    if (why.empty()) why = run_larger(device, of);
  return why;
}

}  // namespace

std::string self_test(spi::Device& device) {
  try {
    return run_steps(device);
  } catch (const std::bad_alloc&) {  // no verdict on the device
    throw;
  } catch (const Error& error) {
    if (error.code() == Errc::out_of_memory) throw;  // neither is this
    return std::string("the self-test could not run: ") + error.what();
  } catch (const std::exception& error) {
    return std::string("the self-test could not run: ") + error.what();
  } catch (...) {
    return "the self-test ended with an unknown exception";
  }
}

}  // namespace kith
