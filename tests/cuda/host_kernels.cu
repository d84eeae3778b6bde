#include "host_kernels.hpp"

namespace kith::tests {
namespace {

__global__ void count(int* counter) {
  if (threadIdx.x == 0) ++*counter;
}

__global__ void trap() {
  __trap();
}

}  // namespace

cudaError_t launch_count(int* counter, unsigned threads, cudaStream_t stream) {
  count<<<1, threads, 0, stream>>>(counter);
  return cudaPeekAtLastError();
}

cudaError_t launch_trap(cudaStream_t stream) {
  trap<<<1, 1, 0, stream>>>();
  return cudaPeekAtLastError();
}

}  // namespace kith::tests
