// What the kernels of a device are built around, as its back end reports it: what plans go by.
#pragma once

#include <cstdint>

#include "kith/cxx20.hpp"
#include "kith/spi/kernel_limits.hpp"

namespace kith {

/// One that a back end leaves alone describes the kernels of a GPU in OpenCL C.
struct KernelProfile {
  /// Steps run on threads of this process, without a driver; they go on working in a forked child.
  bool host_threads = false;
  /// Floats that one vector register of a CPU holds; 1: it takes them one by one.
  std::uint32_t vector_floats = 1;

  std::uint32_t tile_rows = spi::tile_rows;                   ///< queries, and training rows, of a work-group
  std::uint32_t small_batch = spi::small_batch;               ///< queries of a step that kernels for few take
  std::uint32_t batch_queries = spi::batch_queries;           ///< of these, that a work-group takes at a time
  std::uint32_t fused_test_dims = spi::most_fused_test_dims;  ///< most columns of a fused test
  std::uint32_t threshold_max_k = spi::threshold_max_k;  ///< neighbours that selector threshold keeps near

  // Of the fused step, for few queries.
  std::uint32_t rows_at_once = 5116;  ///< training rows that a work-group reads before it uses the first
  std::uint32_t groups_a_unit = 2;    ///< work-groups of one query that a compute unit holds at once
  std::uint32_t batches_a_unit = 1;   ///< the same of several queries
  /// For many queries the fused step divides the training rows itself, and needs no groups.
  bool divides_rows = false;

  /// Queries of a step that proposer int8 takes; beside it those of other proposers have no limit.
  std::uint32_t byte_queries = spi::small_batch;

  /// Rows of the host are copied as they are, and checked, converted and packed on the device.
  bool lands_rows = false;

  bool operator==(const KernelProfile&) const = default;
};

}  // namespace kith
