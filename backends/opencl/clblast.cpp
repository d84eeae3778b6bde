#include "clblast.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "kith/error.hpp"

namespace kith::opencl {
namespace {

// Values of enums in clblast_c.h. The output [q, t] by rows is, at the same addresses, a matrix [t, q] by
// columns: train times queries transposed. kith asks for that one, because CLBlast would transpose the other,
// which is the largest of the three matrices.
constexpr int column_major = 102, as_it_is = 111, transposed = 112;

constexpr const char* install = "; install libclblast1, or choose proposer none";

// Whether the object of library() has been destroyed. It is destroyed before CLBlast's own static objects,
// which are older; a Device in a static variable must not use these any more.
bool ended = false;

}  // namespace

const ClBlast& ClBlast::library() {
  static const ClBlast only;
  return only;
}

ClBlast::ClBlast() {
  if (const char* options = std::getenv("CLBLAST_BUILD_OPTIONS")) {
    refusal_ = "the environment variable CLBLAST_BUILD_OPTIONS is \"" + std::string(options) +
               "\", which may relax the arithmetic of CLBlast; unset it, or choose proposer none";
    return;
  }
  void* opened = dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!opened) {
    const std::string why = dlerror();
    opened = dlopen("libclblast.so", RTLD_NOW | RTLD_LOCAL);
    if (!opened) refusal_ = "libclblast.so.1 cannot be opened (" + why + ")" + install;
  }
  if (!refusal_.empty()) return;
  find(multiply_, opened, "CLBlastSgemmWithTempBuffer");
  find(size_, opened, "CLBlastSGemmTempBufferSize");
  find(forget_, opened, "CLBlastClearCache");
}

template <class Function>
void ClBlast::find(Function& function, void* library, const char* symbol) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  if (!function && refusal_.empty())
    refusal_ = std::string("libclblast.so has no ") + symbol +
               "; install CLBlast 1.5 or newer, or choose proposer none";
}

std::size_t ClBlast::temporary_bytes(cl_command_queue queue, const Product& p) const {
  // Operands that begin at 1 are always copied, so this is the largest size. Few rows or columns need none,
  // because there is a kernel without copies.
  std::size_t bytes = 0;
  const int status = size_(column_major, transposed, as_it_is, p.t, p.q, p.dims, 1, p.t_stride, 1, p.q_stride,
                           1, p.out_stride, &queue, &bytes);
  if (status == 0) return bytes;
  throw Error(Errc::unsupported, "opencl collect: CLBlastSGemmTempBufferSize returned " +
                                     std::to_string(status) + "; choose proposer none");
}

void ClBlast::multiply(cl_command_queue queue, const Product& p, const Operand& queries, const Operand& train,
                       const Operand& out, cl_mem temporary) const {
  const int status = multiply_(column_major, transposed, as_it_is, p.t, p.q, p.dims, 1.0f, train.buffer(),
                               train.first, p.t_stride, queries.buffer(), queries.first, p.q_stride, 0.0f,
                               out.buffer(), out.first, p.out_stride, &queue, nullptr, temporary);
  if (status == 0) return;
  constexpr int first_of_clblast = -1000;  // numbers below this are CLBlast's own, those above are OpenCL's
  if (status > first_of_clblast) throw cl::Error(status, "CLBlastSgemm");
  throw Error(Errc::device_failure, "opencl collect: CLBlastSgemm returned " + std::to_string(status) +
                                        " (see clblast_c.h); choose proposer none");
}

ClBlast::~ClBlast() {
  ended = true;
}

void ClBlast::forget() noexcept {
  if (!ended && library().forget_) library().forget_();
}

}  // namespace kith::opencl
