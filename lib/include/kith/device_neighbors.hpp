// Describes memory of a device for answers.
#pragma once

#include <cstdint>

#include "kith/rows_view.hpp"

namespace kith {

/// Says where Index::search_into() writes the k nearest of m queries in device memory: [m, k] each,
/// row-major, without gaps. Owns nothing. kith/cuda.hpp and kith/opencl.hpp make one.
struct DeviceNeighbors {
  void* distance = nullptr;                ///< memory for distances: a CUDA address, or a cl_mem
  void* row = nullptr;                     ///< memory for 64-bit integers: a CUDA address, or a cl_mem
  std::int64_t distance_offset_bytes = 0;  ///< from `distance` to the first element, a multiple of its bytes
  std::int64_t row_offset_bytes = 0;       ///< from `row` to the first element, a multiple of 8
  Where where = Where::cuda;               ///< not Where::host
  void* stream_or_queue = nullptr;         ///< its work comes first; null: as in RowsView
  Element element = Element::f32;          ///< of distances: f32, or f64 of an Index in double precision
};

}  // namespace kith
