// Computes how many bytes a proposer needs: for the quantized rows of an Index, and for the candidates of
// a search.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kith/unstable/plan.hpp"

namespace kith {

/// Returns whether a proposer orders quantized rows as its device needs them, pads rows and columns, and
/// tests products at once. All proposers do except gemm, whose library takes plain rows and writes products.
bool has_own_order(Proposer proposer);

/// Returns how many bytes `rows` quantized rows take without their row terms.
std::size_t quantized_row_bytes(Proposer proposer, std::int64_t rows, std::int64_t dims);
/// Returns how many bytes rows take that are stored as bytes, including half norms.
std::size_t bytes_of_rows_as_bytes(std::int64_t rows, std::int64_t dims);

/// Returns `rows`, rounded up to a multiple of spi::quantized_block_rows.
std::int64_t whole_quantized_blocks(std::int64_t rows);

/// Returns how many bytes `rows` quantized rows take with their row terms.
std::size_t quantized_bytes(Proposer proposer, std::int64_t rows, std::int64_t dims);

/// With fewer queries threads of the host read too few rows for a copy of them.
constexpr std::int64_t few_queries = 16;

/// Returns how many bytes a row-major copy of the rows takes. An Index keeps it beside quantized rows if the
/// device then reads single rows so much faster that it shows; 0 if it keeps none.
std::size_t row_copy_bytes(const DeviceInfo& device, Proposer proposer, const Problem& problem);

/// The numbers of bytes that a Proposal takes. `values` is the block of inner products, which only gemm
/// writes; `terms` are the masked row terms of all rows (MaskedRows). All are 0 without a proposer.
struct ProposalSizes {
  std::size_t quantized = 0, values = 0, rows = 0, keys = 0, low = 0, small = 0, terms = 0;

  explicit ProposalSizes(const Plan& plan);
  std::size_t total() const { return quantized + values + rows + keys + low + small + terms; }
  std::size_t largest() const;
};

}  // namespace kith
