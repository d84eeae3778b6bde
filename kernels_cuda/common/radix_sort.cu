// The radix sorts of CUB: one for the whole device, and one in which each block sorts a part.
// Source: Merrill, Grimshaw, High performance and scalable radix sorting, 2011; Adinets, Merrill,
// Onesweep, 2022.
// No twin in kernels_cl: CUB is a library of CUDA. There select_radix.cl uses sort.cl, and order.cl
// uses sort_places.cl.
#include "common/radix_sort.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>

namespace kith::cuda {
namespace {

constexpr std::uint32_t threads = 256;

constexpr std::size_t aligned(std::size_t bytes) {
  return divide_up<std::size_t>(bytes, 256) * 256;
}

/// Returns whether parts are sorted by the whole device, one after another: large parts, few parts, and more
/// keys than CUB counts in one sort.
bool one_by_one(const SortShape& shape) {
  return shape.parts <= 4 || shape.width >= 65536 || shape.keys() >= 0x7FFFFFFFu;
}

__global__ __launch_bounds__(threads) void make_offsets(const SortShape shape, std::int32_t* offsets) {
  const std::uint64_t part = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (part > shape.parts) return;
  const auto g = static_cast<std::uint32_t>(part % shape.lists);
  offsets[part] = static_cast<std::int32_t>(part / shape.lists * shape.columns +
                                            columns_of(g, shape.lists, shape.columns).begin);
}

cudaError_t sort_one(void* memory, std::size_t& bytes, const Key* keys, Key* sorted, std::uint32_t count,
                     int begin_bit, cudaStream_t stream) {
  return cub::DeviceRadixSort::SortKeys(memory, bytes, keys, sorted, count, begin_bit, 64, stream);
}

cudaError_t sort_all(void* memory, std::size_t& bytes, const SortShape& shape, const SortMemory& at,
                     int begin_bit, cudaStream_t stream) {
  return cub::DeviceSegmentedRadixSort::SortKeys(
      memory, bytes, static_cast<const Key*>(at.keys), at.sorted, static_cast<std::int32_t>(shape.keys()),
      static_cast<std::int32_t>(shape.parts), static_cast<const std::int32_t*>(at.offsets),
      static_cast<const std::int32_t*>(at.offsets) + 1, begin_bit, 64, stream);
}

}  // namespace

SortMemory::SortMemory(const SortShape& shape, void* memory, std::size_t bytes) {
  auto* const begin = static_cast<unsigned char*>(memory);
  const std::size_t list = aligned(shape.keys() * sizeof(Key));
  const std::size_t begins = aligned((std::size_t{shape.parts} + 1) * sizeof(std::int32_t));
  keys = reinterpret_cast<Key*>(begin);
  sorted = reinterpret_cast<Key*>(begin + list);
  offsets = reinterpret_cast<std::int32_t*>(begin + 2 * list);
  rest = begin + 2 * list + begins;
  rest_bytes = bytes - 2 * list - begins;
}

std::size_t sort_bytes(const SortShape& shape) {
  const SortMemory nowhere(shape, nullptr, ~std::size_t{0});
  std::size_t bytes = 0;
  // If the driver fails here, the size is zero; the sort itself then reports the error.
  const cudaError_t error = one_by_one(shape)
                                ? sort_one(nullptr, bytes, nullptr, nullptr, shape.width, 0, nullptr)
                                : sort_all(nullptr, bytes, shape, nowhere, 0, nullptr);
  if (error != cudaSuccess) bytes = 0;
  return ~std::size_t{0} - nowhere.rest_bytes + aligned(bytes) + 256;
}

cudaError_t sort_parts(const Queue& queue, const SortShape& shape, const SortMemory& memory, int begin_bit) {
  std::size_t bytes = memory.rest_bytes;
  if (!one_by_one(shape)) {
    const cudaError_t error =
        launch(queue, make_offsets, divide_up<std::uint64_t>(shape.parts + 1ull, threads), threads, 0, shape,
               memory.offsets);
    if (error != cudaSuccess) return error;
    return with_room(queue,
                     [&] { return sort_all(memory.rest, bytes, shape, memory, begin_bit, queue.stream); });
  }
  for (std::uint32_t part = 0; part < shape.parts; ++part) {
    const Columns columns = columns_of(part % shape.lists, shape.lists, shape.columns);
    if (columns.begin == columns.end) continue;
    const std::size_t begin = std::size_t{part / shape.lists} * shape.columns + columns.begin;
    const cudaError_t error = with_room(queue, [&] {
      return sort_one(memory.rest, bytes, memory.keys + begin, memory.sorted + begin,
                      columns.end - columns.begin, begin_bit, queue.stream);
    });
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

std::size_t sort_pairs_bytes(std::uint32_t n) {
  std::size_t bytes = 0;
  // If the driver fails here, the size is zero; the sort itself then reports the error.
  const cudaError_t error = cub::DeviceRadixSort::SortPairs(
      nullptr, bytes, static_cast<const std::uint64_t*>(nullptr), static_cast<std::uint64_t*>(nullptr),
      static_cast<const std::uint32_t*>(nullptr), static_cast<std::uint32_t*>(nullptr), n, 0, 64, nullptr);
  return error == cudaSuccess ? aligned(bytes) + 256 : 0;
}

cudaError_t sort_pairs(const Queue& queue, const Pairs& pairs, Bits by, void* memory, std::size_t bytes) {
  return with_room(queue, [&] {
    return cub::DeviceRadixSort::SortPairs(memory, bytes, pairs.keys, pairs.sorted_keys, pairs.values,
                                           pairs.sorted_values, pairs.n, by.begin, by.end, queue.stream);
  });
}

}  // namespace kith::cuda
