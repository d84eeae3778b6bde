// Which build of the inner loops this processor can run.
#pragma once

#include <string>

#include "cpu/kernels.hpp"

namespace kith::cpu {

/// One of the builds of kernels_source.hpp.
struct InstructionSet {
  const char* name = nullptr;  ///< `baseline`, `avx2`, `avx512`; DeviceInfo::driver
  const Kernels* kernels = nullptr;
};

/// The best build for this processor, or the one that KITH_CPU_ISA names.
/// Throws invalid_argument: KITH_CPU_ISA names none (lists those there are).
///        unavailable:      this processor cannot run the one it names.
InstructionSet choose_instruction_set();

}  // namespace kith::cpu
