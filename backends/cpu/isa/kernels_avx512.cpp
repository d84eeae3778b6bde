// The inner loops for AVX-512. Compiled with the flags of cpu.cmake.
#if defined(__x86_64__)
#define KITH_ISA avx512
#include "cpu/isa/lanes_avx512.hpp"

#include "cpu/isa/kernels_source.hpp"

namespace kith::cpu {

const Kernels& kernels_avx512() {
  return KITH_ISA::table;
}

}  // namespace kith::cpu
#endif
