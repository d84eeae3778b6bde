// The quantized rows of an Index for a search with a filter: rows that the filter excludes get NaN as terms,
// so that they do not become candidates. docs/certificate.md, section 4.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "certified/quantized_rows.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/row_filter.hpp"

namespace kith {

class MaskedRows {
 public:
  /// Where the plan does not mask, the rows as they are. Else enqueues a MaskStep a chunk, of row terms
  /// alone. Locks the device. Throws out_of_memory.
  ///   filter  of the search
  ///   trace   is told the seconds; null: the device is not waited for
  MaskedRows(const ResidentRows& index, const Plan& plan, std::shared_ptr<const IndexQuantizedRows> rows,
             const DeviceFilter& filter, Trace* trace);

  /// Returns what IndexQuantizedRows::of() does, with masked row terms.
  spi::QuantizedRows of(std::size_t chunk, std::int64_t first, std::int64_t rows) const;

 private:
  const std::shared_ptr<const IndexQuantizedRows> rows_;
  std::vector<DeviceMemory> row_terms_;  ///< [chunks]  masked; empty: those of rows_
};

/// Makes the step that masks the row terms of `rows` rows, with null memory, for checking.
spi::Step mask_terms_step(const Plan& plan, std::size_t rows);

}  // namespace kith
