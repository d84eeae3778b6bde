// The chains of candidates, by the host: where the device has quantized rows alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/floats.hpp"
#include "certified/list_reader.hpp"
#include "certified/quantized_rows.hpp"
#include "kith/key.hpp"
#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"
#include "kith/spi.hpp"

namespace kith {

/// Keeps its memory from tile to tile. The chains are those of the CPU's kernels.
class HostRanking {
 public:
  /// `rows` lives longer.
  ///   centre  [dims]  that quantized rows were moved by
  HostRanking(Metric metric, const RowsElsewhere& rows, std::vector<float> centre, std::uint32_t threads);

  /// Whether fewer rows to look at are worth so many bytes of bounds, which come from the device.
  bool wants_bounds(const ListedPlaces& lists, std::size_t bytes) const;

  /// Of each list the keys of the k nearest rows, in any order, and behind them no_key where it is shorter.
  ///   queries  [m, dims]         prepared
  ///   low      [m, capacity]     Bounds::low of what is listed; empty: all of it is ranked
  ///   returns  [m, k]            until the next call
  /// Throws what RowsElsewhere::read() throws.
  std::span<const Key> nearest(MatrixView<const float> queries, const ListedPlaces& lists,
                               std::span<const float> low, std::int64_t k);

 private:
  /// A place in a list, and what products say of it.
  struct Bounded {
    float low;
    std::uint32_t place;
  };

  void pack(MatrixView<const float> queries);
  void rank_by_bounds(MatrixView<const float> queries, const ListedPlaces& lists, std::span<const float> low,
                      std::size_t longest);
  float threshold_of(const float* query, std::span<const Key> best) const;
  void rank_all(const ListedPlaces& lists);
  void rank_gathered(const ListedPlaces& lists);
  void rank(const float* rows, std::size_t count, const ListedPlaces& lists, std::size_t longest);
  void join(const ListedPlaces& lists, std::size_t longest, std::span<const std::uint32_t> place_of);

  const Metric metric_;
  const RowsElsewhere& rows_;
  const std::vector<float> centre_;
  const std::uint32_t threads_;
  const std::unique_ptr<spi::Device> host_;  ///< whose kernels rank
  std::size_t m_ = 0, k_ = 0, dims_ = 0;
  std::vector<float> queries_;  ///< packed
  std::vector<Key> keys_;       ///< [m, longest]  of the lists that were ranked last
  std::vector<Key> best_;       ///< [m, k]
  Floats gathered_;
  std::vector<Bounded> bounded_;             ///< [m, longest]
  std::vector<std::uint32_t> ahead_, rest_;  ///< [m, what is ranked first], [m, longest]
};

}  // namespace kith
