// Has a planted bug for the gate `sanitizer`: one thread writes behind the end of a block of memory. If
// memcheck missed it, its silence about kith would mean nothing.

__global__ void write_behind_the_end(int* data, int size) {
  if (threadIdx.x == 0) data[size] = 1;  // one element too far
}

int main() {
  constexpr int size = 64;
  int* data = nullptr;
  if (cudaMalloc(&data, size * sizeof(int)) != cudaSuccess) return 1;
  write_behind_the_end<<<1, 32>>>(data, size);
  cudaDeviceSynchronize();
  cudaFree(data);
  return 0;
}
