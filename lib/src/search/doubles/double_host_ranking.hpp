// Computes the chains in double precision of candidates on the host.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"
#include "kith/spi.hpp"
#include "search/doubles/ranking_tiles.hpp"

namespace kith {

/// Ranks with the kernels of the CPU back end, by rows in memory of the host or in a Source.
class DoubleHostRanking {
 public:
  /// What `among` refers to must live longer than this object.
  DoubleHostRanking(const RankedAmong& among, std::uint32_t threads);

  /// Writes the raw value of each listed row.
  ///   queries  [m, dims], prepared
  ///   places   [m, width], or [1, width] for all queries; no_row: there is none
  ///   values   [m, width] or more  out; not written for no_row
  void rank(MatrixView<const double> queries, MatrixView<const std::uint32_t> places,
            std::span<double> values) const;

 private:
  void rank_among(const PreparedDoubles& rows, std::int64_t first, MatrixView<const double> queries,
                  MatrixView<const std::uint32_t> places, std::span<double> values) const;
  void rank_read(MatrixView<const double> queries, MatrixView<const std::uint32_t> places,
                 std::span<double> values) const;

  const Metric metric_;
  const DoubleRows& rows_;
  const ColumnTerms* const terms_;
  const std::uint32_t threads_;
  const std::unique_ptr<spi::Device> host_;
};

}  // namespace kith
