// Rows of bits in bands of like numbers of ones: docs/boxes.md, section 7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/resident_rows.hpp"

namespace kith {

/// Rows whose numbers of ones are from `least` to `most`.
struct Band {
  std::uint32_t least = 0, most = 0;
  std::vector<std::int64_t> places;          ///< ascending, so that ties within a band are in the right order
  std::shared_ptr<const ResidentRows> rows;  ///< a copy of them
};

class RowBands {
 public:
  /// Reads the rows from the device, which it locks now and then. Throws out_of_memory.
  RowBands(const ResidentRows& index, std::uint32_t threads);

  const std::vector<Band>& all() const { return bands_; }
  /// Returns how many bytes of device memory the copies take.
  std::size_t bytes() const;

 private:
  std::vector<Band> bands_;
};

/// Counts the ones of a row, [dims].
std::uint32_t ones_of(const float* row, std::int64_t dims);

/// Returns the bands of an Index; the first search that needs them makes them. Any thread may call this.
///   trace  gets the time and memory of making them, if they were not there; may be null
std::shared_ptr<const RowBands> bands_for(const ResidentRows& index, const SearchOptions& options,
                                          Trace* trace = nullptr);

}  // namespace kith
