// Bytes of what a proposer needs: the shadow of an Index, and a search's candidates.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kith/plan.hpp"

namespace kith {

/// Whether shadows are in an order of the device's own, in memory for whole multiples of rows and columns,
/// and products are tested as they come: all but gemm, whose library takes rows and writes products.
bool has_own_order(Proposer proposer);

/// Bytes of the shadow of `rows` rows, without their facts.
std::size_t shadow_row_bytes(Proposer proposer, std::int64_t rows, std::int64_t dims);

/// `rows`, or the next multiple of spi::shadow_rows.
std::int64_t whole_shadow_rows(std::int64_t rows);

/// Bytes of the shadow of `rows` rows: the rows and their facts.
std::size_t shadow_bytes(Proposer proposer, std::int64_t rows, std::int64_t dims);

/// Bytes of a copy of the rows, row-major, that an Index keeps beside a shadow, for a device that reads
/// single rows faster so; 0 where it keeps none.
std::size_t row_copy_bytes(const DeviceInfo& device, Proposer proposer, std::int64_t rows, std::int64_t dims);

/// Bytes of a Proposal; `values` is the block of inner products, which only gemm writes. All 0
/// without a proposer.
struct ProposalSizes {
  std::size_t shadow = 0, values = 0, rows = 0, keys = 0, low = 0, small = 0;

  explicit ProposalSizes(const Plan& plan);
  std::size_t total() const { return shadow + values + rows + keys + low + small; }
  std::size_t largest() const;
};

}  // namespace kith
