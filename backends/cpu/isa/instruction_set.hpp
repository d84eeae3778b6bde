// Which build of the inner loops this processor can run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cpu/isa/kernels.hpp"
#include "kith/selector.hpp"

namespace kith::cpu {

/// One of the builds of kernels_source.hpp.
struct InstructionSet {
  const char* name = nullptr;       ///< `baseline`, `avx2`, `avx512`; DeviceInfo::driver
  std::uint32_t vector_floats = 1;  ///< KernelProfile::vector_floats
  const Kernels* kernels = nullptr;
  std::vector<Proposer> proposers = {};
  void (*propose_bf16)(const Products&) = nullptr;       ///< by matrix units; null without them
  void (*propose_int8)(const Products&) = nullptr;       ///< null where bytes are not multiplied
  int most_query_byte = most_byte;                       ///< that propose_int8 takes
  void (*propose_int8_wide)(const Products&) = nullptr;  ///< that takes all bytes of queries
};

/// The best build for this processor, or the one that KITH_CPU_ISA names.
/// Throws invalid_argument: KITH_CPU_ISA names none (lists those there are).
///        unavailable:      this processor cannot run the one it names.
InstructionSet choose_instruction_set();

}  // namespace kith::cpu
