// Makes rows with many copies, and an Index that keeps equal rows once beside one that keeps each.
#pragma once

#include <random>

#include "common/device.hpp"
#include "kith/index.hpp"

namespace kith::tests {

/// Returns rows of which many are equal: the distinct rows have few values, so that they tie, too.
///   distinct  how many rows there are to choose from, the first of them most often
inline Matrix repeated_rows(std::mt19937& random, std::int64_t rows, std::int64_t dims,
                            std::int64_t distinct) {
  Matrix from{distinct, dims, {}}, made{rows, dims, {}};
  for (std::int64_t i = 0; i < distinct * dims; ++i)
    from.values.push_back(static_cast<float>(random() % 5) + 1);
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t most = random() % 3 == 0 ? distinct : (distinct + 7) / 8;
    const auto row = from.row(static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(most)));
    made.values.insert(made.values.end(), row.begin(), row.end());
  }
  return made;
}

inline IndexOptions keeping(IndexOptions options, bool once) {
  options.deduplicate = once;
  return options;
}

/// An Index that keeps equal rows once, and one of the same rows that keeps each.
struct OnceAndEach {
  OnceAndEach(const Device& on, const RowsView& rows, Metric metric, const IndexOptions& options = {})
      : once(on, rows, metric, keeping(options, true)), each(on, rows, metric, keeping(options, false)) {}

  void add(const RowsView& rows, std::span<const std::int64_t> ids = {}) {
    once = once.with(rows, ids);
    each = each.with(rows, ids);
  }
  void remove(std::span<const std::int64_t> rows) {
    once = once.without(rows);
    each = each.without(rows);
  }
  void compact() {
    once = once.compact();
    each = each.compact();
  }

  /// Checks that both give the same answers.
  void check(const RowsView& queries, std::int64_t k, const SearchOptions& options = {}) const {
    CHECK(once.search(queries, k, options) == each.search(queries, k, options));
    if (options.self) return;
    CHECK(once.search_keys(queries, k, options) == each.search_keys(queries, k, options));
  }
  void check_within(const RowsView& queries, std::span<const float> radii,
                    const SearchOptions& options = {}) const {
    CHECK(once.within(queries, radii, options) == each.within(queries, radii, options));
    if (options.self) return;
    CHECK(once.within_keys(queries, radii, options) == each.within_keys(queries, radii, options));
  }

  Index once, each;
};

}  // namespace kith::tests
