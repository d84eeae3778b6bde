// The inner loops in plain C++, which every processor can run.
#define KITH_ISA baseline
#include "cpu/isa/lanes_baseline.hpp"

#include "cpu/isa/kernels_source.hpp"

namespace kith::cpu {

const Kernels& kernels_baseline() {
  return KITH_ISA::table;
}

}  // namespace kith::cpu
