// Bytes of what a proposer needs: the quantized rows of an Index, and a search's candidates.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kith/plan.hpp"

namespace kith {

/// Whether quantized rows are in an order of the device's own, in memory for whole multiples of rows and
/// columns, and products are tested as they come: all but gemm, whose library takes rows and writes products.
bool has_own_order(Proposer proposer);

/// Bytes of `rows` quantized rows, without their row terms.
std::size_t quantized_row_bytes(Proposer proposer, std::int64_t rows, std::int64_t dims);
/// The same of rows that stay as bytes, half norms included.
std::size_t bytes_of_rows_as_bytes(std::int64_t rows, std::int64_t dims);

/// `rows`, or the next multiple of spi::quantized_block_rows.
std::int64_t whole_quantized_blocks(std::int64_t rows);

/// Bytes of `rows` quantized rows: the rows and their row terms.
std::size_t quantized_bytes(Proposer proposer, std::int64_t rows, std::int64_t dims);

/// Bytes of a copy of the rows, row-major, that an Index keeps beside quantized rows, for a device that reads
/// single rows faster so; 0 where it keeps none.
std::size_t row_copy_bytes(const DeviceInfo& device, Proposer proposer, std::int64_t rows, std::int64_t dims);

/// Bytes of a Proposal; `values` is the block of inner products, which only gemm writes, and `terms` are row
/// terms of all rows, of which those that do not count are masked (MaskedRows). All 0 without a proposer.
struct ProposalSizes {
  std::size_t quantized = 0, values = 0, rows = 0, keys = 0, low = 0, small = 0, terms = 0;

  explicit ProposalSizes(const Plan& plan);
  std::size_t total() const { return quantized + values + rows + keys + low + small + terms; }
  std::size_t largest() const;
};

}  // namespace kith
