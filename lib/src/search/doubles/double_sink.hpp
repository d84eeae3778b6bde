// Declares sinks, which receive the answers of a search in double precision.
#pragma once

#include <cstdint>
#include <span>

#include "kith/key.hpp"
#include "kith/keys.hpp"
#include "kith/metric.hpp"
#include "kith/neighbors.hpp"
#include "rows/index_state.hpp"

namespace kith {

/// A row and its raw value, in the order of the contract.
struct RankedRow {
  std::uint64_t value;  ///< ordered()
  std::int64_t row;     ///< its place

  // clang-tidy 14 takes the 0 that such an operator is compared with for a pointer.
  auto operator<=>(const RankedRow&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// Receives the nearest rows of each query.
class DoubleSink {
 public:
  DoubleSink() = default;
  virtual ~DoubleSink() = default;
  DoubleSink(const DoubleSink&) = delete;
  DoubleSink& operator=(const DoubleSink&) = delete;

  /// Announces the k nearest rows of each of m queries, after all checks.
  virtual void begin(std::int64_t m, std::int64_t k) = 0;
  /// Takes at most k rows of one query, nearest first. A later call replaces an earlier one. Several threads
  /// call it for different queries, under FloatGuard.
  virtual void put(std::int64_t query, std::span<const RankedRow> nearest) = 0;
};

/// Passes on only rows within SearchOptions::radius.
class CutDoubleSink final : public DoubleSink {
 public:
  ///   bound  the largest raw value within the radius
  CutDoubleSink(DoubleSink& to, double bound) : to_(to), last_(ordered(bound)) {}
  void begin(std::int64_t m, std::int64_t k) override { to_.begin(m, k); }
  void put(std::int64_t query, std::span<const RankedRow> nearest) override {
    std::size_t count = nearest.size();
    while (count > 0 && nearest[count - 1].value > last_) --count;
    to_.put(query, nearest.first(count));
  }

 private:
  DoubleSink& to_;
  const std::uint64_t last_;
};

/// Writes to Neighbors, with the places of the rows, and allocates the memory that they lack.
class DoubleNeighborsSink final : public DoubleSink {
 public:
  DoubleNeighborsSink(ShownBy shown, Neighbors& found) : shown_(shown), found_(found) {}
  void begin(std::int64_t m, std::int64_t k) override;
  void put(std::int64_t query, std::span<const RankedRow> nearest) override;

 private:
  const ShownBy shown_;
  Neighbors& found_;
};

/// Writes keys that shards exchange, with the numbers of the rows.
class DoubleKeysSink final : public DoubleSink {
 public:
  ///   k  keys per list; a search for fewer leaves the others empty
  DoubleKeysSink(Keys& to, std::int64_t k, const RowNumbering& numbers) : to_(to), k_(k), numbers_(numbers) {}
  void begin(std::int64_t m, std::int64_t k) override;
  void put(std::int64_t query, std::span<const RankedRow> nearest) override;

 private:
  Keys& to_;
  const std::int64_t k_;
  const RowNumbering& numbers_;
};

}  // namespace kith
