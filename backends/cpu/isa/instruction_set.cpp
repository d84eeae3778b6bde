#include "cpu/isa/instruction_set.hpp"

#include <cstdlib>
#if defined(KITH_CPU_AMX)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include "kith/error.hpp"

namespace kith::cpu {
namespace {

/// One build of the kernels. `builds` has them in order of preference.
struct Build {
  const char* name;
  std::uint32_t vector_floats;
  const Kernels& (*kernels)();
  bool (*runs_here)();
  void (*add_proposers)(InstructionSet&);  ///< but for products in single precision, which all have
};

[[maybe_unused]] void add_int8(InstructionSet& set, void (*propose)(const Products&),
                               void (*wide)(const Products&)) {
  set.proposers.push_back(Proposer::int8);
  set.propose_int8 = propose;
  set.propose_int8_wide = wide;
}

#if defined(__x86_64__)
bool runs_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

bool runs_avx512() {
  return runs_avx2() && __builtin_cpu_supports("avx512f");
}

/// Returns whether the processor has the parts of AVX-512 for small numbers and short vectors.
bool runs_small_avx512() {
  return runs_avx512() && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

void add_proposers_of_avx512([[maybe_unused]] InstructionSet& set) {
#if defined(KITH_CPU_VNNI)
  if (runs_small_avx512() && __builtin_cpu_supports("avx512vnni"))
    add_int8(set, propose_int8_vnni, propose_int8_vnni);
#endif
}

void add_proposers_of_avx2(InstructionSet& set) {
  add_int8(set, propose_int8_avx2, propose_int8_wide_avx2);
  set.most_query_byte = most_byte_avx2;
}
#endif

#if defined(KITH_CPU_AMX)
/// Returns whether there are matrix units for 16-bit floats and for bytes, and the operating system lets this
/// process use them.
bool runs_amx() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr unsigned units = 1u << 22 | 1u << 24 | 1u << 25;  // 16-bit floats, tiles, bytes
  if (!runs_small_avx512() || !__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || (edx & units) != units)
    return false;
  constexpr long ask_for_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, ask_for_permission, tile_data) == 0;
}

void add_proposers_of_amx(InstructionSet& set) {
  set.proposers.push_back(Proposer::bf16);
  set.propose_bf16 = propose_bf16;
  add_int8(set, propose_int8_amx, propose_int8_amx);
  set.bytes_in_tiles = true;
}
#endif

#if defined(__aarch64__)
void add_proposers_of_neon(InstructionSet& set) {
  if ((getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0) add_int8(set, propose_int8_neon, propose_int8_neon);
}
#endif

// Each test checks the instruction sets that its build is compiled for; cpu.cmake has the same lists. `amx`
// has the inner loops of `avx512` and proposers of its own.
constexpr Build builds[] = {
#if defined(KITH_CPU_AMX)
    {"amx", 16, kernels_avx512, runs_amx, add_proposers_of_amx},
#endif
#if defined(__x86_64__)
    {"avx512", 16, kernels_avx512, runs_avx512, add_proposers_of_avx512},
    {"avx2", 8, kernels_avx2, runs_avx2, add_proposers_of_avx2},
#elif defined(__aarch64__)
    {"neon", 4, kernels_neon, [] { return true; }, add_proposers_of_neon},
#endif
    {"baseline", 1, kernels_baseline, [] { return true; }, [](InstructionSet&) {}},
};

InstructionSet set_of(const Build& build) {
  InstructionSet set{build.name, build.vector_floats, &build.kernels(), {Proposer::dot}};
  build.add_proposers(set);
  return set;
}

std::string list_of(bool (*wanted)(const Build&)) {
  std::string list;
  for (const Build& build : builds)
    if (wanted(build)) list += (list.empty() ? "" : ", ") + std::string(build.name);
  return list;
}

}  // namespace

InstructionSet choose_instruction_set() {
#if defined(__x86_64__)
  __builtin_cpu_init();
#endif
  const char* const wish = secure_getenv("KITH_CPU_ISA");
  const std::string asked = wish ? wish : "";
  for (const Build& build : builds) {
    if (!asked.empty() && asked != build.name) continue;
    if (build.runs_here()) return set_of(build);
    if (!asked.empty())
      throw Error(Errc::unavailable, "KITH_CPU_ISA = " + asked +
                                         ", but this processor cannot run it; unset it or choose one of " +
                                         list_of([](const Build& b) { return b.runs_here(); }));
  }
  throw Error(Errc::invalid_argument, "KITH_CPU_ISA = " + asked +
                                          " is no build of this library; unset it or choose one of " +
                                          list_of([](const Build&) { return true; }));
}

}  // namespace kith::cpu
