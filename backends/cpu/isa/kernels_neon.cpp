// The inner loops for NEON.
#if defined(__aarch64__)
#define KITH_ISA neon
#include "cpu/isa/lanes_neon.hpp"

#include "cpu/isa/kernels_source.hpp"

namespace kith::cpu {

const Kernels& kernels_neon() {
  return KITH_ISA::table;
}

}  // namespace kith::cpu
#endif
