// Views rows and answers in memory of a CUDA device. Includes no header of CUDA; link what your program uses.
#pragma once

#include <cstdint>

#include "kith/device_neighbors.hpp"
#include "kith/index.hpp"

struct CUstream_st;  // cudaStream_t and CUstream point to it

namespace kith::cuda {

/// Views rows at a device address, for an Index on that device: as training rows, as rows to add, and as
/// queries of Index::search() and search_into(). Every other call refuses them.
///   first   address of the first element, in memory of cudaMalloc() or its like; needs no alignment
///   stride  bytes from one row to the next; 0: no gaps
///   stream  kith reads after the work that is in it now; null: the default stream. It must not be captured
inline RowsView rows(const void* first, Element element, std::int64_t m, std::int64_t columns,
                     std::int64_t stride = 0, CUstream_st* stream = nullptr) {
  RowsView view(first, element, m, columns, stride == 0 ? row_bytes(element, columns) : stride);
  view.where = Where::cuda;
  view.stream_or_queue = stream;
  return view;
}

/// Views rows of floats.
inline RowsView rows(const float* first, std::int64_t m, std::int64_t columns,
                     CUstream_st* stream = nullptr) {
  return rows(first, Element::f32, m, columns, 0, stream);
}

/// Says where answers go: device addresses of [m, k] elements each.
///   stream  kith writes after the work that is in it now; null: the default stream. It must not be captured
inline DeviceNeighbors neighbors(float* distance, std::int64_t* row, CUstream_st* stream = nullptr) {
  return {distance, row, 0, 0, Where::cuda, stream};
}

}  // namespace kith::cuda
