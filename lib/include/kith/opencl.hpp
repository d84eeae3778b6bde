// Takes rows and answers in buffers of OpenCL, on a device in the caller's context. Includes OpenCL's header.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include <cstdint>

#include "kith/device.hpp"
#include "kith/device_neighbors.hpp"
#include "kith/index.hpp"
#include "kith/spi/landing.hpp"

namespace kith {

namespace opencl {

/// Views rows in a buffer, for an Index on a device that was opened with the buffer's context: as training
/// rows, as rows to add, and as queries of Index::search() and search_into(). Every other call refuses them.
///   offset  bytes from the beginning of the buffer to the first element; needs no alignment
///   stride  bytes from one row to the next; 0: no gaps
///   queue   kith reads after the work that is in it now; null: the queue the device was opened with
inline RowsView rows(cl_mem buffer, Element element, std::int64_t m, std::int64_t columns,
                     std::int64_t offset = 0, std::int64_t stride = 0, cl_command_queue queue = nullptr) {
  RowsView view(buffer, element, m, columns, stride == 0 ? row_bytes(element, columns) : stride);
  view.offset_bytes = offset;
  view.where = Where::opencl;
  view.stream_or_queue = queue;
  return view;
}

/// Says where answers go: buffers of [m, k] elements each, which kernels may write.
///   queue  kith writes after the work that is in it now; null: the queue the device was opened with
inline DeviceNeighbors neighbors(cl_mem distance, cl_mem row, cl_command_queue queue = nullptr) {
  return {distance, row, 0, 0, Where::opencl, queue};
}

}  // namespace opencl

/// Opens a device in the caller's context, and tests that it is exact. kith keeps the context, works in a
/// queue of its own, and waits for `queue` unless rows and answers name another.
///   device  a device of `context` that devices() lists
///   queue   a queue of `context`; null: kith waits for none
/// Throws unavailable: no OpenCL back end here (says why), or the device failed its self-test.
///        unsupported: the device is not in the context, or not listed; the queue is in another context.
inline Device open_device(cl_context context, cl_device_id device, cl_command_queue queue) {
  return adopt_device("opencl", {context, device, queue});
}

}  // namespace kith
