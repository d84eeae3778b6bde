// Planted bugs for the gate `sanitizer`: a thread waits at a warp barrier whose mask excludes it, and only
// half of a block reaches a barrier for all. synccheck must find both.

__global__ void not_in_the_mask(int* out) {
  if (threadIdx.x <= 16) {
    __syncwarp(0x0000FFFFu);  // the mask names threads 0 .. 15, but thread 16 comes too
    out[threadIdx.x] = 1;
  }
}

__global__ void half_of_the_block(int* out) {
  if (threadIdx.x < 32) {
    __syncthreads();
    out[threadIdx.x] = 1;
  }
}

int main() {
  int* out = nullptr;
  if (cudaMalloc(&out, 64 * sizeof(int)) != cudaSuccess) return 1;
  not_in_the_mask<<<1, 32>>>(out);
  half_of_the_block<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
  return 0;
}
