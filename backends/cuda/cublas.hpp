// Inner products by cuBLAS, which is loaded at run time, not linked.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace kith::cuda {

/// Rows of floats in device memory, `stride` floats apart.
struct ProductOperand {
  const float* data;
  std::size_t rows;
  std::size_t stride;
};

/// A handle of cuBLAS for one device and one stream, with its own workspace.
class Cublas {
 public:
  /// Returns why proposer gemm cannot be used, as a sentence; empty if the library was found. The first call
  /// loads the library, which stays open.
  static const std::string& refusal();

  /// May be called only if there is no refusal. Reuses the handle of a destroyed Cublas of the same context,
  /// if there is one.
  ///   device   name in messages
  ///   context  the current context
  /// Throws unsupported, with a sentence that can be used as a refusal, or out_of_memory.
  Cublas(std::string device, CUcontext context, cudaStream_t stream);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  /// Enqueues out[i, j] = sum over d < dims of a[i, d] * b[j, d], in single precision and rounded at each
  /// operation (CUBLAS_COMPUTE_32F_PEDANTIC: neither TF32 nor emulation). The library chooses the order
  /// of additions.
  ///   out  [a.rows, b.rows], `stride` floats from row to row
  /// Throws out_of_memory, device_failure.
  void multiply(const ProductOperand& a, const ProductOperand& b, std::size_t dims, float* out,
                std::size_t stride);

 private:
  void close() noexcept;

  const std::string device_;
  const CUcontext context_;
  void* handle_ = nullptr;
  void* workspace_ = nullptr;
};

}  // namespace kith::cuda
