// CLBlast (Nugteren, IWOCL 2018), opened when the first product is asked for; kith is not linked to it.
#pragma once

#include <CL/opencl.hpp>
#include <cstddef>
#include <string>

namespace kith::opencl {

/// C [q, t] = Q [q, dims] X [t, dims] transposed; all row-major, strides in elements.
struct Product {
  std::size_t q = 0, t = 0, dims = 0;
  std::size_t q_stride = 0, t_stride = 0, out_stride = 0;
};

/// Elements of a buffer from `first` on.
struct Operand {
  cl::Buffer buffer;
  std::size_t first = 0;
};

/// What is assumed of CLBlast 1.5 and 1.6, from their sources, and held against double precision before the
/// first search (docs/certificate.md, section 6):
/// - Products and sums are `c += a * b` in single precision, compiled without any option that relaxes
///   arithmetic. A compiler may fuse the two, and on GPUs of AMD it is `mad`, which may flush subnormal
///   numbers: both within the bound. Factors 1 and 0 change no product.
/// - Without the environment variable CLBLAST_BUILD_OPTIONS, which could relax it: refused.
/// - It counts elements in `int`: what is handed over must be counted so.
///
/// Its kernels are compiled at the first product on a device, which takes seconds, and are kept until
/// forget(). Larger products copy their operands into `temporary` memory; nothing else is allocated.
class ClBlast {
 public:
  /// The one of this process, opened at the first call and never closed.
  static const ClBlast& library();

  /// Why there is none, as a sentence; empty when there is one.
  const std::string& refusal() const { return refusal_; }

  /// Bytes of `temporary` that multiply() may need for this product or for a smaller one, wherever its
  /// operands begin. Throws unsupported.
  std::size_t temporary_bytes(cl_command_queue queue, const Product& product) const;

  /// Enqueue a product. `temporary` may be null where temporary_bytes() says 0. Throws cl::Error,
  /// kith::Error.
  void multiply(cl_command_queue queue, const Product& product, const Operand& queries, const Operand& train,
                const Operand& out, cl_mem temporary) const;

  /// Release what was compiled, for all devices: before a context ends, which it would keep alive.
  /// Nothing happens when the process is ending and CLBlast has ended before.
  static void forget() noexcept;

  ~ClBlast();
  ClBlast(const ClBlast&) = delete;
  ClBlast& operator=(const ClBlast&) = delete;

 private:
  ClBlast();
  template <class Function>
  void find(Function& function, void* library, const char* symbol);

  // As in clblast_c.h, where enumerations are int.
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
