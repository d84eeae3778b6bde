// Declares the step that ranks candidates in double precision: docs/certificate.md, section 7.
#pragma once

#include <cstdint>

#include "kith/metric.hpp"
#include "kith/spi/memory.hpp"

namespace kith::spi {

/// Computes the chains in double precision (docs/contract.md, section 1) of the rows that are listed for each
/// query.
struct DoubleChainsStep {
  static constexpr const char* name = "chains_f64";
  Metric metric;             ///< any but hamming
  Grid<double> queries;      ///< [m, dims], read only
  Grid<double> train;        ///< [n, dims], read only
  std::uint32_t first_row;   ///< training row of row 0 of `train`
  Grid<std::uint32_t> rows;  ///< [m, width], read only: training rows; with stride 0 one list for all queries
  /// [m, width]  out: the raw value of each listed row. Places whose rows are not first_row ... first_row +
  /// n - 1 are not written.
  Grid<double> values;
  Grid<double> terms =
      {};              ///< [1, dims]  parameters of columns (metrics.def); without columns: there are none
  bool mixed = false;  ///< terms may be others than periodic
};

}  // namespace kith::spi
