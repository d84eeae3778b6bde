// Has a planted bug for the gate `sanitizer`: the kernel reads device memory that was never written.
// initcheck must find it.

__global__ void read_unwritten(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x] + 1;
}

int main() {
  int *in = nullptr, *out = nullptr;
  if (cudaMalloc(&in, 32 * sizeof(int)) != cudaSuccess) return 1;
  if (cudaMalloc(&out, 32 * sizeof(int)) != cudaSuccess) return 1;
  read_unwritten<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  return 0;
}
