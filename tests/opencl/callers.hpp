// A host program that uses OpenCL itself on the device under test.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "common/device.hpp"
#include "kith/opencl.hpp"

namespace kith::tests {

/// Returns all devices in the order of the loader, which is how kith numbers them.
inline std::vector<cl_device_id> all_cl_devices() {
  cl_uint count = 0;
  REQUIRE(clGetPlatformIDs(0, nullptr, &count) == CL_SUCCESS);
  std::vector<cl_platform_id> platforms(count);
  REQUIRE(clGetPlatformIDs(count, platforms.data(), nullptr) == CL_SUCCESS);
  std::vector<cl_device_id> all;
  for (const cl_platform_id platform : platforms) {
    cl_uint devices = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices) != CL_SUCCESS) continue;
    all.resize(all.size() + devices);
    REQUIRE(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, devices, all.data() + all.size() - devices,
                           nullptr) == CL_SUCCESS);
  }
  return all;
}

/// Owns a context with a queue and buffers.
class Caller {
 public:
  Caller() {
    const std::string prefix = "opencl:";
    const std::string& spec = device().info().spec;
    REQUIRE(spec.starts_with(prefix));
    device_ = all_cl_devices().at(std::stoul(spec.substr(prefix.size())));
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, nullptr);
    REQUIRE(context_ != nullptr);
    queue_ = clCreateCommandQueue(context_, device_, 0, nullptr);
    REQUIRE(queue_ != nullptr);
  }
  ~Caller() {
    for (const cl_mem buffer : buffers_) clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue_);
    clReleaseContext(context_);
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  Device open() const { return open_device(context_, device_, queue_); }

  cl_mem buffer(std::size_t bytes, cl_mem_flags flags = CL_MEM_READ_WRITE) {
    buffers_.push_back(clCreateBuffer(context_, flags, bytes, nullptr, nullptr));
    REQUIRE(buffers_.back() != nullptr);
    return buffers_.back();
  }
  /// Returns a buffer with these bytes, which are copied once `after` has finished.
  cl_mem buffer_of(const void* from, std::size_t bytes, cl_event after = nullptr) {
    const cl_mem made = buffer(bytes);
    REQUIRE(clEnqueueWriteBuffer(queue_, made, after ? CL_FALSE : CL_TRUE, 0, bytes, from, after ? 1 : 0,
                                 after ? &after : nullptr, nullptr) == CL_SUCCESS);
    return made;
  }
  /// Returns a copy of host rows in a buffer, as a view for kith.
  RowsView put(const RowsView& rows, cl_event after = nullptr) {
    const auto bytes = static_cast<std::size_t>(rows.offset_bytes + rows.rows * rows.stride_bytes);
    return opencl::rows(buffer_of(rows.data, bytes, after), rows.element, rows.rows, rows.cols,
                        rows.offset_bytes, rows.stride_bytes);
  }
  template <class T>
  std::vector<T> read(cl_mem from, std::size_t count) const {
    std::vector<T> values(count);
    REQUIRE(clEnqueueReadBuffer(queue_, from, CL_TRUE, 0, count * sizeof(T), values.data(), 0, nullptr,
                                nullptr) == CL_SUCCESS);
    return values;
  }

  cl_context context() const { return context_; }
  cl_device_id cl_device() const { return device_; }
  cl_command_queue queue() const { return queue_; }

 private:
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  std::vector<cl_mem> buffers_;
};

/// Most cases have so many rows, queries and columns, and ask for so many neighbours.
inline constexpr std::int64_t n = 500, m = 37, dims = 21, k = 9;

inline bool has_opencl() {
  return device().info().backend == "opencl";
}

/// Searches with outputs in buffers that are larger than needed, and checks the space around.
inline Neighbors search_into_buffers(Caller& caller, const Index& index, const RowsView& queries,
                                     std::int64_t k_of, const SearchOptions& options = {}) {
  const std::size_t cells = size(queries.rows * k_of), before = 3, behind = 2;
  const std::vector<float> canaries(cells + before + behind, 77);
  const std::vector<std::int64_t> numbers(cells + before + behind, 77);
  DeviceNeighbors to = opencl::neighbors(caller.buffer_of(canaries.data(), canaries.size() * sizeof(float)),
                                         caller.buffer_of(numbers.data(), numbers.size() * 8));
  to.distance_offset_bytes = before * sizeof(float);
  to.row_offset_bytes = before * 8;
  index.search_into(queries, k_of, to, options);
  const auto distance = caller.read<float>(static_cast<cl_mem>(to.distance), canaries.size());
  const auto rows = caller.read<std::int64_t>(static_cast<cl_mem>(to.row), numbers.size());
  for (const std::size_t i : {std::size_t{0}, before - 1, cells + before, cells + before + behind - 1}) {
    CHECK(distance[i] == 77);
    CHECK(rows[i] == 77);
  }
  const auto inside = [&](const auto& all) { return std::vector(all.begin() + before, all.end() - behind); };
  return {queries.rows, k_of, inside(distance), inside(rows)};
}

}  // namespace kith::tests
