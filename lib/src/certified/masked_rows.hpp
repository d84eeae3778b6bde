// The quantized rows of an Index for a search with a filter. Rows that the filter excludes get NaN as row
// terms, so that they do not become candidates. docs/certificate.md, section 4.
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
  /// Enqueues one MaskStep per chunk, which masks row terms; uses the rows unchanged if the plan does not
  /// mask. Locks the device. Throws out_of_memory.
  ///   filter  of the search
  ///   trace   gets the seconds; null: does not wait for the device
  MaskedRows(const ResidentRows& index, const Plan& plan, std::shared_ptr<const IndexQuantizedRows> rows,
             const DeviceFilter& filter, Trace* trace);

  /// Returns what IndexQuantizedRows::of() returns, with masked row terms.
  spi::QuantizedRows of(std::size_t chunk, std::int64_t first, std::int64_t rows) const;

 private:
  const std::shared_ptr<const IndexQuantizedRows> rows_;
  std::vector<DeviceMemory> row_terms_;  ///< [chunks]  masked row terms; empty: those of rows_ are used
};

/// Makes the step that masks the row terms of `rows` rows. Its memory is null, because it is only checked.
spi::Step mask_terms_step(const Plan& plan, std::size_t rows);

}  // namespace kith
