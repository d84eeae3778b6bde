// What searches make of rows with missing values: extended rows, of which products propose, and a sample.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/resident_rows.hpp"
#include "search/gaps/gap_columns.hpp"

namespace kith {

class GapRows {
 public:
  /// Reads the rows from the device, which it locks now and then. Throws out_of_memory.
  GapRows(const ResidentRows& index, std::uint32_t threads);

  const GapColumns& columns() const { return columns_; }
  /// Returns a row, [dims], in memory of the host.
  const float* row(std::int64_t place) const { return rows_.data() + place * columns_.dims(); }
  /// Returns the extended rows, at the same places, whose metric is negative_dot.
  const ResidentRows& extended() const { return *extended_; }
  /// Returns a copy of each picked_sample_stride-th row.
  const ResidentRows& sample() const { return *sample_; }

  /// Records that most queries of a search for k were left to the chain.
  void tell_loses(std::int64_t k) const {
    std::int64_t from = loses_from_;
    while ((from == 0 || k < from) && !loses_from_.compare_exchange_weak(from, k)) {
    }
  }
  bool loses(std::int64_t k) const { return loses_from_ > 0 && k >= loses_from_; }

 private:
  std::shared_ptr<const ResidentRows> extended_rows_of(const ResidentRows& index,
                                                       std::uint32_t threads) const;
  MatrixView<const float> some_extended(std::int64_t first, std::int64_t count, std::int64_t stride,
                                        std::uint32_t threads, Floats& to) const;

  const Floats rows_;
  const GapColumns columns_;
  const std::shared_ptr<const ResidentRows> extended_, sample_;
  mutable std::atomic<std::int64_t> loses_from_ = 0;
};

/// Returns none, with the schema of those of an Index.
ResidentRows no_extended_rows(const ResidentRows& index);

/// Returns what was made of the rows of an Index; the first search that needs it makes it. Any thread may
/// call this.
///   trace  gets the time of making it, if it was not there; may be null
std::shared_ptr<const GapRows> gap_rows_for(const ResidentRows& index, std::uint32_t threads,
                                            Trace* trace = nullptr);

/// Does the same, but returns null if there is no room for it and the caller asked for no proposer. Later
/// searches then do not try again.
std::shared_ptr<const GapRows> gap_rows_with_room(const ResidentRows& index, const SearchOptions& options,
                                                  Trace* trace = nullptr);

/// Returns it if it was made, else null.
std::shared_ptr<const GapRows> made_gap_rows(const ResidentRows& index);

}  // namespace kith
