#include "check/self_test.hpp"

#include <bit>
#include <cmath>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "check/landing_check.hpp"
#include "check/self_test_parts.hpp"
#include "kith/error.hpp"
#include "kith/key.hpp"
#include "plan/rules/plan_rules.hpp"

namespace kith {
namespace {

constexpr std::uint32_t n = 61, m = 5, dims = 7, k = 9, parts = 3;
constexpr std::size_t keys = std::size_t{m} * k, width = std::size_t{parts} * k;
constexpr Metric metric = Metric::squared_l2;

/// Returns rows that are often computed wrong, each of one kind: subnormal squares, sums that a multiply
/// followed by an add rounds differently, overflow, ties, cancellation.
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

std::string bits(float value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.9g (0x%08x)", static_cast<double>(value),
                std::bit_cast<std::uint32_t>(value));
  return text;
}

/// Says which of the results, in rows of `cols` values each called a `column`, differs first; empty if
/// none does.
std::string compare(const char* what, const char* column, std::size_t cols, const Both<float>& both) {
  const auto& [values, expected] = both;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::bit_cast<std::uint32_t>(values[i]) != std::bit_cast<std::uint32_t>(expected[i]))
      return std::string(what) + " of test query " + std::to_string(i / cols) + " and " + column + " " +
             std::to_string(i % cols) + " came out as " + bits(values[i]) + " instead of " +
             bits(expected[i]);
  return {};
}

constexpr std::uint32_t classes = 3, first_row = 45;

/// Makes filters of `words` words for each test query, in which about two of five training rows count.
std::vector<std::uint32_t> test_filters(std::uint32_t queries, std::uint32_t words) {
  std::vector<std::uint32_t> filters(std::size_t{queries} * words);
  for (std::uint32_t q = 0; q < queries; ++q)
    for (std::uint32_t t = first_row; t < 32 * words; ++t)
      if ((t * 7 + q * 3) % 5 < 2) filters[std::size_t{q} * words + t / 32] |= 1u << t % 32;
  return filters;
}

/// Masks values in a tile that does not begin at a word of its filters.
///   elsewhere  writes a masked copy instead
Both<float> masked(spi::Device& device, const std::vector<float>& values, std::uint32_t queries,
                   std::uint32_t cols, bool elsewhere = false) {
  const std::uint32_t words = (first_row + cols + 31) / 32;
  return on_both(device, [&](spi::StepRunner& there) {
    const spi::MaskStep step{
        there.input(test_filters(queries, words), queries, words), first_row,
        elsewhere ? there.output<float>(queries, cols) : there.in_and_out(values, queries, cols),
        elsewhere ? there.input(values, queries, cols) : spi::Grid<float>{}};
    return result_of(there, step, step.distances);
  });
}

Both<Key> selected(spi::Device& device, Selector selector, const std::vector<float>& values,
                   std::uint32_t first) {
  return on_both(device, [&](spi::StepRunner& there) {
    const spi::SelectStep step{selector, there.input(values, m, n),   first, k,
                               parts,    there.output<Key>(m, width), {}};
    auto lists = result_of(there, step, step.out);
    for (Key& key : lists)  // selectors may write masked keys or no_key if fewer than k pairs count
      if (key >> 32 == no_value) key = no_key;
    return lists;
  });
}

/// Tests masks among hard values and in rows longer than a work-group, and that select takes all pairs that
/// count, +infinity too, and no others.
std::string run_mask(spi::Device& device, const std::vector<float>& values, Selector selector) {
  const Both<float> short_rows = masked(device, values, m, n);
  std::string why = compare("masked distance", "row", n, short_rows);
  if (!why.empty()) return why;
  if (!selected(device, selector, short_rows.right, first_row).same())
    return "selector " + std::string(name(selector)) + " selected other rows among masked ones in a test";
  constexpr std::uint32_t rows = 2, cols = 700;
  const std::vector<float> ones(std::size_t{rows} * cols, 1);
  why = compare("masked distance", "row", cols, masked(device, ones, rows, cols));
  if (!why.empty()) return why;
  return compare("masked copy", "row", cols, masked(device, ones, rows, cols, true));
}

std::vector<std::uint32_t> test_labels() {
  std::vector<std::uint32_t> labels(n);
  for (std::uint32_t t = 0; t < n; ++t) labels[t] = t % 7 % classes;
  return labels;
}

/// Tests sums whose bits depend on the order and on subnormal numbers.
std::string run_score(spi::Device& device, std::vector<Key> nearest) {
  std::vector<float> weights(keys);
  for (std::size_t i = 0; i < keys; ++i) {
    weights[i] = i % 4 == 0 ? 0x1p-140f * static_cast<float>(i) : 1 / static_cast<float>(i);
    if (i % 11 == 10) nearest[i] = no_key;
  }
  return compare("sum of weights", "class", classes, on_both(device, [&](spi::StepRunner& there) {
                   const spi::ScoreStep step{there.input(nearest, m, k), there.input(weights, m, k),
                                             there.input(test_labels(), 1, n), classes,
                                             there.output<float>(m, classes)};
                   return result_of(there, step, step.sums);
                 }));
}

/// Tests the smallest and the sum of distances in two tiles: rounding, subnormal numbers, overflow.
std::string run_accumulate(spi::Device& device, const std::vector<float>& values) {
  constexpr std::size_t sums = std::size_t{m} * classes, split = 40;
  const Both<float> both = on_both(device, [&](spi::StepRunner& there) {
    const auto carried = [&](float begin) {
      return there.input(std::vector<float>(sums, begin), m, classes);
    };
    spi::AccumulateStep step{there.input(values, m, n),
                             there.input(test_labels(), 1, n),
                             classes,
                             carried(INFINITY),
                             carried(0),
                             carried(0),
                             {}};
    step.distances.cols = step.labels.cols = split;
    result_of(there, step, step.low);
    step.distances = {step.distances.memory, split, m, n - split, n};
    step.labels = {step.labels.memory, split, 1, n - split, n - split};
    result_of(there, step, step.low);
    std::vector<float> all;
    for (const auto* grid : {&step.smallest, &step.high, &step.low}) {
      const std::vector<float> part = there.read(*grid);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  });
  const char* const whats[] = {"smallest distance", "sum of distances", "rest of the sum"};
  std::string why;
  for (std::size_t part = 0; part < 3 && why.empty(); ++part) {
    const auto of = [&](const std::vector<float>& all) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(part * sums);
      return std::vector<float>(begin, begin + sums);
    };
    why = compare(whats[part], "class", classes, {of(both.found), of(both.right)});
  }
  return why;
}

/// Describes a fused search, for devices that support it.
struct Fused {
  Metric metric;
  std::uint32_t queries, rows, columns, lists;
  std::uint32_t query_salt, row_salt;
};
constexpr Fused small = {metric, m, n, dims, parts, 7, 0};
/// These searches reach the other kernels: those for many queries, and those that keep a query of few columns
/// in registers. Rows or columns come in several pieces. The chain of inner products has a minus, which
/// compilers may move.
constexpr Fused larger[] = {{metric, m, 1100, dims, 1, 3, 9},
                            {Metric::negative_dot, 67, 290, 3, 1, 3, 9},
                            {Metric::negative_dot, 67, 60, 17, 1, 3, 9}};

/// Views rows of `columns` columns.
MatrixView<const float> view(const std::vector<float>& rows, std::uint32_t columns) {
  return {rows.data(), static_cast<std::int64_t>(rows.size() / columns), columns};
}

bool finds(spi::Device& device, const Fused& of) {
  const std::vector<float> queries = hard_rows(of.queries, of.query_salt, of.columns),
                           train = hard_rows(of.rows, of.row_salt, of.columns);
  return on_both(device,
                 [&](spi::StepRunner& there) {
                   const spi::NearestStep step{of.metric,
                                               there.queries(view(queries, of.columns)),
                                               there.train(view(train, of.columns)),
                                               0,
                                               k,
                                               of.lists,
                                               there.output<Key>(of.queries, std::size_t{of.lists} * k),
                                               {}};
                   return result_of(there, step, step.out);
                 })
      .same();
}

std::string run_fused(spi::Device& device) {
  if (!finds(device, small)) return "the fused search returned other rows in a test";
  for (const Fused& of : larger)
    if (!finds(device, of))
      return "the fused search of " + std::to_string(of.queries) + " queries among " +
             std::to_string(of.rows) + " rows of " + std::to_string(of.columns) + " columns by " +
             std::string(name(of.metric)) + " returned other rows in a test";
  return {};
}

std::string run_steps(spi::Device& device) {
  const std::vector<float> queries = hard_rows(m, small.query_salt), train = hard_rows(n, small.row_salt);
  const Both<float> values = on_both(device, [&](spi::StepRunner& there) {
    const spi::DistanceStep step{metric, there.queries(view(queries, dims)), there.train(view(train, dims)),
                                 there.output<float>(m, n)};
    return result_of(there, step, step.out);
  });
  std::string why = compare("distance", "row", n, values);
  if (!why.empty()) return why;

  SearchOptions unfused;
  unfused.fused = false;
  const Selector selector = plan_problem(device.info, {metric, n, m, dims, k}, unfused).selector;
  const Both<Key> lists = selected(device, selector, values.right, 0);
  if (!lists.same()) return "selector " + std::string(name(selector)) + " selected other rows in a test";
  const Both<Key> nearest = on_both(device, [&](spi::StepRunner& there) {
    const spi::MergeStep step{parts, k, there.input(lists.right, m, width), there.output<Key>(m, k), {}};
    return result_of(there, step, step.out);
  });
  if (!nearest.same()) return "merge returned other rows in a test";
  why = run_mask(device, values.right, selector);
  if (why.empty()) why = run_score(device, nearest.right);
  if (why.empty()) why = run_accumulate(device, values.right);
  if (why.empty() && device.info.fused_max_k >= k) why = run_fused(device);
  return why.empty() && device.info.profile.lands_rows ? landing_check(device) : why;
}

}  // namespace

std::string self_test(spi::Device& device) {
  try {
    return run_steps(device);
  } catch (const std::bad_alloc&) {  // no verdict on the device
    throw;
  } catch (const Error& error) {
    if (error.code() == Errc::out_of_memory) throw;  // no verdict either
    return std::string("the self-test could not run: ") + error.what();
  } catch (const std::exception& error) {
    return std::string("the self-test could not run: ") + error.what();
  } catch (...) {
    return "the self-test ended with an unknown exception";
  }
}

}  // namespace kith
