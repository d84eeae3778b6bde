// Has a planted bug for the gate `sanitizer`: threads read what others write to shared memory, without a
// barrier in between. racecheck must find it.

__global__ void no_barrier(int* out) {
  __shared__ int shared[128];
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  out[threadIdx.x] = shared[127 - threadIdx.x];  // a __syncthreads() is missing before this
}

int main() {
  int* out = nullptr;
  if (cudaMalloc(&out, 128 * sizeof(int)) != cudaSuccess) return 1;
  no_barrier<<<1, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
  return 0;
}
