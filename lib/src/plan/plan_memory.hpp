// How much device memory a plan takes, and making it fit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kith/plan.hpp"
#include "rows/chunks.hpp"

namespace kith {

/// Training rows of the largest tile that is searched by the chain; 0 where candidates are proposed.
std::int64_t chain_tile(const Plan& plan);
/// Whether that is the only one, so that no running result is carried from one to the next.
bool searches_in_one_tile(const Plan& plan);

/// Bytes of each block of a search's workspace, scratch and proposals apart.
struct WorkspaceSizes {
  std::size_t queries = 0;      ///< the query tile, packed
  std::size_t distances = 0;    ///< [query_tile, chain_tile()] floats; 0 when fused
  std::size_t lists = 0;        ///< one of them: [query_tile, (lists + carried) * k] keys
  std::size_t list_blocks = 0;  ///< 0: the lists are the result; 1: one training tile; 2: several
  std::size_t result = 0;       ///< [query_tile, k] keys
  std::size_t filter = 0;       ///< filter_bytes()
  std::size_t walks = 0;        ///< one of two: the order of queries by boxes, and the leaves they read

  std::size_t total() const {
    return queries + distances + list_blocks * lists + result + filter + 2 * walks;
  }
  std::size_t largest() const;
};

WorkspaceSizes workspace_sizes(const DeviceInfo& device, const Plan& plan);

/// Device bytes a search may take beside its Index.
std::size_t memory_budget(const DeviceInfo& device, const Plan& plan, const PlanOptions& options);

/// Shrink the tiles of `plan` until workspace and single blocks fit; sets workspace_bytes.
/// Throws out_of_memory: not even one query and one training row fit.
void fit_memory(const DeviceInfo& device, const PlanOptions& options, Plan& plan);

}  // namespace kith
