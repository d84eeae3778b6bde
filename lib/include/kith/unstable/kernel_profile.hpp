// Describes the kernels of a device, as its back end reports them, for plans.
//
// Unstable: this may change in any release. kith.hpp has it all the same, since DeviceInfo holds one.
#pragma once

#include <cstdint>

#include "kith/cxx20.hpp"
#include "kith/spi/kernel_limits.hpp"

namespace kith {

/// Describes kernels. The defaults are those of kernels for GPUs in OpenCL C.
struct KernelProfile {
  /// Steps run on threads of this process, without a driver; they still run in a forked child.
  bool host_threads = false;
  /// Floats in a vector register of a CPU; 1: no vectors.
  std::uint32_t vector_floats = 1;

  std::uint32_t tile_rows = spi::tile_rows;                   ///< queries, and training rows, per work-group
  std::uint32_t small_batch = spi::small_batch;               ///< most queries of a step by kernels for
                                                              ///< few queries
  std::uint32_t batch_queries = spi::batch_queries;           ///< queries per work-group of such kernels
  std::uint32_t fused_test_dims = spi::most_fused_test_dims;  ///< most columns of a fused test
  std::uint32_t threshold_max_k = spi::threshold_max_k;       ///< most neighbours that selector
                                                              ///< threshold keeps

  // For the fused step with few queries:
  std::uint32_t rows_at_once = 5116;  ///< training rows that a work-group reads before it uses the first
  std::uint32_t groups_a_unit = 2;    ///< work-groups that a compute unit runs at once, with one query
  std::uint32_t batches_a_unit = 1;   ///< the same with several queries
  /// The fused step with several queries divides the training rows itself, and makes one list in one launch,
  /// if there are at most so many pairs of a query and a row, queries in whole batches, and at most so many
  /// neighbours. 0: it needs lists.
  std::uint32_t pairs_at_once = 0, at_once_max_k = 0;
  /// The fused step for many queries divides the training rows itself, and needs one list.
  bool divides_rows = false;

  /// Most queries of a step by proposer int8. Those of other proposers have no limit.
  std::uint32_t byte_queries = spi::small_batch;

  /// Rows of the host are copied unconverted; the device checks, converts and packs them.
  bool lands_rows = false;

  bool operator==(const KernelProfile&) const = default;
};

}  // namespace kith
