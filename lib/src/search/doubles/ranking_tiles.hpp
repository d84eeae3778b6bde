// Computes the chains in double precision of candidates on a device, in tiles of queries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kith/device.hpp"
#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"
#include "kith/trace.hpp"
#include "search/doubles/double_index.hpp"

namespace kith {

/// Rows whose chains in double precision are computed.
struct RankedAmong {
  RankedAmong(const Index::State& index);
  RankedAmong(const Device& on, Metric by, const DoubleRows& of, std::size_t held)
      : device(on), metric(by), rows(of), bytes_held(held) {}

  const Device& device;
  Metric metric;
  const DoubleRows& rows;
  std::size_t bytes_held;              ///< bytes of the device that other forms of the rows take
  const ColumnTerms* terms = nullptr;  ///< in the place of differences; null: there are none
};

/// Takes the raw values of queries first ... first + count - 1.
///   values  [count, width]; undefined where there is no row
using TakeValues =
    std::function<void(std::int64_t first, std::int64_t count, std::span<const double> values)>;

/// Memory for two tiles: the host fills one and reads the other while the device works.
class RankingTiles {
 public:
  ///   among  rows that are on the device; must outlive this
  /// Throws out_of_memory.
  RankingTiles(const RankedAmong& among, std::uint32_t threads, std::int64_t m, std::int64_t dims,
               std::int64_t width);
  ~RankingTiles();

  /// Returns how many queries are ranked at a time.
  static std::int64_t queries_of(std::int64_t m, std::int64_t dims, std::int64_t width);

  /// Does what DoubleRanking::rank() does.
  void rank(MatrixView<const double> queries, MatrixView<const std::uint32_t> places, const TakeValues& take,
            Trace* trace);

 private:
  struct Tile;

  Tile& tile_at(std::int64_t first) { return *tiles_[size(first / step_) % tiles_.size()]; }
  void fill(Tile& tile, MatrixView<const double> queries, MatrixView<const std::uint32_t> places) const;
  void begin(Tile& tile, bool timed) const;
  std::span<const double> values_of(Tile& tile, Trace* trace) const;

  const RankedAmong& among_;
  const std::uint32_t threads_;
  const std::int64_t step_;  ///< queries of a tile
  std::vector<std::unique_ptr<Tile>> tiles_;
};

}  // namespace kith
