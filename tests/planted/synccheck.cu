// Planted bugs for the gate `sanitizer`: a thread waits at a warp barrier whose mask does not name
// it, and half of a block meets at a barrier that is meant for all of it. synccheck must find them.

__global__ void not_in_the_mask(int* out) {
  if (threadIdx.x <= 16) {
    __syncwarp(0x0000FFFFu);  // names threads 0 .. 15, and thread 16 comes too
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
