// The inner loops in plain C++: every processor runs them.
#define KITH_ISA baseline
#include "cpu/lanes_baseline.hpp"

#include "cpu/kernels_source.hpp"

namespace kith::cpu {

const Kernels& kernels_baseline() {
  return KITH_ISA::table;
}

}  // namespace kith::cpu
