// Inner products by cuBLAS, which is opened at run time and never linked.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace kith::cuda {

/// Rows of floats in device memory, `stride` floats from row to row.
struct ProductOperand {
  const float* data;
  std::size_t rows;
  std::size_t stride;
};

/// A handle of cuBLAS for one device and one stream, with memory of its own to work in.
class Cublas {
 public:
  /// Why proposer gemm cannot be had, as a sentence; empty when the library is there. The library is looked
  /// for when this is first called, and stays open.
  static const std::string& refusal();

  /// Only where there is no refusal. Takes the handle of a Cublas of the same context that is gone, if there
  /// is one.
  ///   device   as in messages
  ///   context  the current one
  /// Throws unsupported, with a sentence that can stand as a refusal, or out_of_memory.
  Cublas(std::string device, CUcontext context, cudaStream_t stream);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  /// Enqueue out[i, j] = sum over d < dims of a[i, d] * b[j, d], in single precision with single roundings
  /// (CUBLAS_COMPUTE_32F_PEDANTIC: neither TF32 nor emulation), in an order that the library chooses.
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
