// Kernels of the host program that guest.cpp is.
#pragma once

#include <cuda_runtime_api.h>

namespace kith::tests {

/// *counter += 1, by a block of `threads`. More than 1024 are an error of the launch.
cudaError_t launch_count(int* counter, unsigned threads, cudaStream_t stream);

/// Ends in a trap, after which the context is lost.
cudaError_t launch_trap(cudaStream_t stream);

}  // namespace kith::tests
