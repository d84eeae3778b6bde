// The inner loops for AVX2 and FMA. Compiled with the flags of cpu.cmake.
#if defined(__x86_64__)
#define KITH_ISA avx2
#include "cpu/isa/lanes_avx2.hpp"

#include "cpu/isa/kernels_source.hpp"

namespace kith::cpu {

const Kernels& kernels_avx2() {
  return KITH_ISA::table;
}

}  // namespace kith::cpu
#endif
