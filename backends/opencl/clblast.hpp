// CLBlast (Nugteren, IWOCL 2018), which is loaded for the first product; kith is not linked to it.
#pragma once

#include <CL/opencl.hpp>
#include <cstddef>
#include <string>

namespace kith::opencl {

/// The product C [q, t] = Q [q, dims] X [t, dims] transposed; all are row-major, with strides in elements.
struct Product {
  std::size_t q = 0, t = 0, dims = 0;
  std::size_t q_stride = 0, t_stride = 0, out_stride = 0;
};

/// The elements of a buffer from `first` on.
struct Operand {
  cl::Buffer buffer;
  std::size_t first = 0;
};

/// These are the assumptions about CLBlast 1.5 and 1.6, from their sources. They are compared with double
/// precision before the first search (docs/certificate.md, section 6):
/// - Products and sums are `c += a * b` in single precision, compiled without options that relax arithmetic.
/// A compiler may fuse the two, and on GPUs of AMD it is `mad`, which may flush subnormal numbers: both are
/// within the bound. Factors 1 and 0 change no product.
/// - The environment variable CLBLAST_BUILD_OPTIONS, which could relax arithmetic, is not set; otherwise
/// CLBlast is refused.
/// - It counts elements in `int`, so the sizes of operands must fit into it.
///
/// Its kernels are compiled for the first product on a device, which takes seconds, and are kept until
/// forget(). Larger products copy their operands into `temporary` memory; nothing else is allocated.
class ClBlast {
 public:
  /// Returns the object of this process. The first call loads the library, which is never closed.
  static const ClBlast& library();

  /// Returns why CLBlast cannot be used, as a sentence; empty if it can.
  const std::string& refusal() const { return refusal_; }

  /// Returns how many bytes of `temporary` multiply() may need for this product or a smaller one, wherever
  /// its operands begin. Throws unsupported.
  std::size_t temporary_bytes(cl_command_queue queue, const Product& product) const;

  /// Enqueues a product. `temporary` may be null if temporary_bytes() returns 0. Throws
  /// cl::Error, kith::Error.
  void multiply(cl_command_queue queue, const Product& product, const Operand& queries, const Operand& train,
                const Operand& out, cl_mem temporary) const;

  /// Releases compiled kernels, for all devices. It must be called before a context ends, which they would
  /// keep alive. It does nothing if the process is ending and CLBlast is already destroyed.
  static void forget() noexcept;

  ~ClBlast();
  ClBlast(const ClBlast&) = delete;
  ClBlast& operator=(const ClBlast&) = delete;

 private:
  ClBlast();
  template <class Function>
  void find(Function& function, void* library, const char* symbol);

  // These types are as in clblast_c.h, where enumerations are int.
  using MultiplyFunction = int(int layout, int a_transpose, int b_transpose, std::size_t m, std::size_t n,
                               std::size_t k, float alpha, cl_mem a, std::size_t a_offset, std::size_t a_ld,
                               cl_mem b, std::size_t b_offset, std::size_t b_ld, float beta, cl_mem c,
                               std::size_t c_offset, std::size_t c_ld, cl_command_queue* queue,
                               cl_event* event, cl_mem temporary);
  using SizeFunction = int(int layout, int a_transpose, int b_transpose, std::size_t m, std::size_t n,
                           std::size_t k, std::size_t a_offset, std::size_t a_ld, std::size_t b_offset,
                           std::size_t b_ld, std::size_t c_offset, std::size_t c_ld, cl_command_queue* queue,
                           std::size_t* bytes);
  using ForgetFunction = int();

  MultiplyFunction* multiply_ = nullptr;
  SizeFunction* size_ = nullptr;
  ForgetFunction* forget_ = nullptr;
  std::string refusal_;
};

}  // namespace kith::opencl
