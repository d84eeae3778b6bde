// Computes how much device memory a plan takes, and shrinks the plan until it fits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kith/unstable/plan.hpp"
#include "rows/chunks.hpp"

namespace kith {

/// Returns the number of training rows of the largest tile that the chain searches; 0 with a proposer.
std::int64_t chain_tile(const Plan& plan);
/// Returns whether there is only one such tile, so that no result is carried over to the next tile.
bool searches_in_one_tile(const Plan& plan);

/// The number of bytes of each block of a search's workspace, without scratch and proposals.
struct WorkspaceSizes {
  std::size_t queries = 0;      ///< the query tile, packed
  std::size_t distances = 0;    ///< [query_tile, chain_tile()] floats; 0 when fused
  std::size_t lists = 0;        ///< bytes of one of them: [query_tile, (lists + carried) * k] keys
  std::size_t list_blocks = 0;  ///< 0: the lists are the result; 1: one training tile; 2: several
  std::size_t result = 0;       ///< [query_tile, k] keys
  std::size_t filter = 0;       ///< filter_bytes()
  std::size_t walks = 0;        ///< bytes of one of two blocks: the order of queries, and leaves read

  std::size_t total() const {
    return queries + distances + list_blocks * lists + result + filter + 2 * walks;
  }
  std::size_t largest() const;
};

WorkspaceSizes workspace_sizes(const DeviceInfo& device, const Plan& plan);

/// Returns how many bytes of device memory a search may take beside its Index.
std::size_t memory_budget(const DeviceInfo& device, const Plan& plan, const SearchOptions& options);

/// Shrinks the tiles of `plan` until the workspace and each block fit, and sets workspace_bytes. Throws
/// out_of_memory if one query and one training row do not fit.
void fit_memory(const DeviceInfo& device, const SearchOptions& options, Plan& plan);

}  // namespace kith
