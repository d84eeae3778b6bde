// Reads rows of a Source as doubles, and as the floats near them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kith/source.hpp"
#include "rows/doubles/prepared_doubles.hpp"
#include "rows/doubles/rounded_rows.hpp"

namespace kith {

/// The rows of a Source in double precision, checked and prepared whenever they are read.
class DoubleSource {
 public:
  ///   features   the columns that count, ascending; empty: all
  ///   first_row  the number of row 0 in messages
  DoubleSource(std::shared_ptr<const Source> source, Metric metric, std::vector<std::int64_t> features,
               std::int64_t first_row);

  std::int64_t rows() const { return info_.rows; }
  std::int64_t dims() const;
  Metric metric() const { return metric_; }
  const Source& source() const { return *source_; }

  /// Returns rows first ... first + count - 1. Throws as Source::read() and prepare_doubles() do.
  PreparedDoubles read(std::int64_t first, std::int64_t count, std::uint32_t threads) const;
  /// Returns the rows at these places.
  ///   places  ascending
  PreparedDoubles gathered(std::span<const std::uint32_t> places, std::uint32_t threads) const;
  /// Passes all rows to use(rows), in blocks.
  template <class Use>
  void each_block(const Use& use) const {
    const std::int64_t step = rows_a_block();
    for (std::int64_t first = 0; first < rows(); first += step)
      use(read(first, std::min(step, rows() - first), 0));
  }

 private:
  std::int64_t rows_a_block() const;
  PreparedDoubles prepared(const std::vector<unsigned char>& raw, std::int64_t first, std::int64_t count,
                           std::uint32_t threads) const;

  const std::shared_ptr<const Source> source_;
  const RowsInfo info_;
  const Metric metric_;
  const std::vector<std::int64_t> features_;
  const std::int64_t first_row_;
};

/// The floats near these rows, as a Source for an Index that proposes.
class RoundedSource final : public Source {
 public:
  RoundedSource(std::shared_ptr<const DoubleSource> doubles, Rounding how)
      : doubles_(std::move(doubles)), how_(std::move(how)) {}

  RowsInfo info() const override { return {doubles_->rows(), doubles_->dims(), Element::f32}; }
  void read(std::int64_t first, std::int64_t count, void* to) const override;
  std::uint64_t state() const override;
  std::string name() const override { return doubles_->source().name(); }

 private:
  const std::shared_ptr<const DoubleSource> doubles_;
  const Rounding how_;
};

}  // namespace kith
