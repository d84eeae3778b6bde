// transfer: copies few bytes between the device and locked memory of the host, which kernels reach over
// the bus.
//
//   from, to  addresses of the device or of locked memory; any of their bytes may be the first
//   ticket    in locked memory: becomes `number` once the copy can be read there
//
// The engines of a card wait for each other by semaphores: a kernel of 8 us with a copy of 256 bytes before
// and behind it took 23.4 us by the copy engine, from call to answer, and 17.6 by these kernels (H200). One
// block fetches, so that a barrier is enough to know that all of it is written.
// Work: each byte is read and written once, 16 bytes a thread where addresses allow it. No shared memory.
// No twin in kernels_cl: OpenCL has no memory of the host that a kernel may read while the host waits for it.
#include "transfer/transfer.hpp"

#include "common/common.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t put_threads = 256, fetch_threads = 512;

/// Copies by one of `threads` threads.
template <class T>
__device__ void copy_share(void* to, const void* from, std::size_t bytes, std::uint32_t thread,
                           std::uint32_t threads) {
  for (std::size_t i = thread; i < bytes / sizeof(T); i += threads)
    static_cast<T*>(to)[i] = static_cast<const T*>(from)[i];
}

__device__ void copy(void* to, const void* from, std::size_t bytes, std::uint32_t thread,
                     std::uint32_t threads) {
  const std::size_t bits = reinterpret_cast<std::size_t>(to) | reinterpret_cast<std::size_t>(from) | bytes;
  if (bits % sizeof(uint4) == 0)
    copy_share<uint4>(to, from, bytes, thread, threads);
  else if (bits % sizeof(std::uint32_t) == 0)
    copy_share<std::uint32_t>(to, from, bytes, thread, threads);
  else
    copy_share<unsigned char>(to, from, bytes, thread, threads);
}

__global__ __launch_bounds__(put_threads) void put_bytes(void* to, const void* from,
                                                         const std::size_t bytes) {
  take_turn();
  copy(to, from, bytes, blockIdx.x * put_threads + threadIdx.x, gridDim.x * put_threads);
}

__global__ __launch_bounds__(fetch_threads) void fetch_bytes(const Fetch wanted) {
  take_turn();
#pragma unroll
  for (const Fetch::Piece& piece : wanted.pieces)
    copy(piece.to, piece.from, piece.bytes, threadIdx.x, fetch_threads);
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *static_cast<volatile std::uint32_t*>(wanted.ticket) = wanted.number;
}

}  // namespace

cudaError_t put(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  return launch_in_turn(queue, put_bytes, divide_up<std::size_t>(bytes, put_threads * sizeof(uint4)),
                        put_threads, 0, to, from, bytes);
}

cudaError_t fetch(const Queue& queue, const Fetch& wanted) {
  return launch_in_turn(queue, fetch_bytes, 1, fetch_threads, 0, wanted);
}

}  // namespace kith::cuda
