// Chooses the build of the inner loops for this processor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cpu/isa/kernels.hpp"
#include "kith/selector.hpp"

namespace kith::cpu {

/// A build of kernels_source.hpp, with its proposers.
struct InstructionSet {
  const char* name = nullptr;       ///< `baseline`, `neon`, `avx2`, `avx512`, `amx`; DeviceInfo::driver
  std::uint32_t vector_floats = 1;  ///< KernelProfile::vector_floats
  const Kernels* kernels = nullptr;
  std::vector<Proposer> proposers = {};
  void (*propose_bf16)(const Products&) = nullptr;       ///< uses matrix units; null if there are none
  void (*propose_int8)(const Products&) = nullptr;       ///< null if bytes are not multiplied
  int most_query_byte = most_byte;                       ///< the largest that propose_int8 takes
  void (*propose_int8_wide)(const Products&) = nullptr;  ///< takes queries with any bytes
  bool bytes_in_tiles = false;                           ///< int8: queries are in tiles of matrix units
};

/// Returns the best build for this processor, or the one that KITH_CPU_ISA names.
/// Throws invalid_argument: KITH_CPU_ISA names no build (lists those that exist).
///        unavailable:      this processor cannot run the one it names.
InstructionSet choose_instruction_set();

}  // namespace kith::cpu
