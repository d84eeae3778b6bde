// Declares kernels of the host program in guest.cpp.
#pragma once

#include <cuda_runtime_api.h>

namespace kith::tests {

/// Adds 1 to *counter, by a block of `threads` threads. The launch fails with more than 1024.
cudaError_t launch_count(int* counter, unsigned threads, cudaStream_t stream);

/// Launches a kernel that traps, which loses the context.
cudaError_t launch_trap(cudaStream_t stream);

}  // namespace kith::tests
