// Computes the chains of candidates on the host, if the device has only quantized rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/floats.hpp"
#include "certified/host_chains.hpp"
#include "certified/list_reader.hpp"
#include "certified/quantized_rows.hpp"
#include "kith/key.hpp"
#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"

namespace kith {

/// Returns the largest bound from products of a row whose chain is at most `value`: docs/certificate.md,
/// section 4.
///   centre  what was subtracted from rows to quantize them
float product_threshold(Metric metric, std::span<const float> query, std::span<const float> centre,
                        float value);

/// Ranks candidates with the kernels of the CPU back end. It keeps its memory from tile to tile.
class HostRanking {
 public:
  /// `rows` must live longer than this object.
  ///   centre  [dims]  what was subtracted from rows to quantize them
  HostRanking(Metric metric, const RowsElsewhere& rows, std::vector<float> centre, std::uint32_t threads);

  /// Returns whether reading this many bytes of bounds from the device pays, because fewer rows are
  /// then ranked.
  bool wants_bounds(const ListedPlaces& lists, std::size_t bytes) const;

  /// Returns the keys of the k nearest rows of each list, in any order, padded with no_key.
  ///   queries  [m, dims]      prepared
  ///   low      [m, capacity]  Bounds::low of the listed rows; empty: all of them are ranked
  ///   returns  [m, k]         valid until the next call
  /// Throws what RowsElsewhere::read() throws.
  std::span<const Key> nearest(MatrixView<const float> queries, const ListedPlaces& lists,
                               std::span<const float> low, std::int64_t k);

 private:
  /// A listed place and its lower bound from products.
  struct Bounded {
    float low;
    std::uint32_t place;
  };

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
  HostChains chains_;
  std::size_t m_ = 0, k_ = 0, dims_ = 0;
  std::span<Key> keys_;    ///< [m, longest]  keys of the lists that were ranked last
  std::vector<Key> best_;  ///< [m, k]
  Floats gathered_;
  std::vector<Bounded> bounded_;             ///< [m, longest]
  std::vector<std::uint32_t> ahead_, rest_;  ///< [m, candidates ranked first], [m, longest]
};

}  // namespace kith
