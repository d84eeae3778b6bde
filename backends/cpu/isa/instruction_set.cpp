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
};

// Each test checks the instruction sets that its build is compiled for; cpu.cmake has the same lists.
constexpr Build builds[] = {
#if defined(__x86_64__)
    {"avx512", 16, kernels_avx512,
     [] {
       return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx2") &&
              __builtin_cpu_supports("fma");
     }},
    {"avx2", 8, kernels_avx2, [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }},
#elif defined(__aarch64__)
    {"neon", 4, kernels_neon, [] { return true; }},
#endif
    {"baseline", 1, kernels_baseline, [] { return true; }},
};

#if defined(KITH_CPU_AMX)
/// Returns whether there are matrix units for 16-bit floats, and the operating system lets this process
/// use them.
bool has_matrix_units() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr unsigned bf16 = 1u << 22, tiles = 1u << 24;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || (edx & bf16) == 0 || (edx & tiles) == 0)
    return false;
  constexpr long ask_for_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, ask_for_permission, tile_data) == 0;
}
#endif

#if defined(KITH_CPU_VNNI)
bool has_dot_products_of_bytes() {
  return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

/// Returns a build with its proposers. All builds have products in single precision, and avx2 has its own
/// products of bytes. Matrix units and dot products of bytes are only used with the best build, so that a
/// build that was asked for runs nothing else.
InstructionSet set_of(const Build& build) {
  InstructionSet set{build.name, build.vector_floats, &build.kernels(), {Proposer::dot}};
#if defined(KITH_CPU_AMX)
  if (&build == builds && has_matrix_units()) {
    set.proposers.push_back(Proposer::bf16);
    set.propose_bf16 = propose_bf16;
  }
#endif
#if defined(KITH_CPU_VNNI)
  if (&build == builds && has_dot_products_of_bytes()) {
    set.proposers.push_back(Proposer::int8);
    set.propose_int8 = set.propose_int8_wide = propose_int8_vnni;
  }
#endif
#if defined(__x86_64__)
  if (set.kernels == &kernels_avx2()) {
    set.proposers.push_back(Proposer::int8);
    set.propose_int8 = propose_int8_avx2;
    set.propose_int8_wide = propose_int8_wide_avx2;
    set.most_query_byte = most_byte_avx2;
  }
#elif defined(__aarch64__)
  if (&build == builds && (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0) {
    set.proposers.push_back(Proposer::int8);
    set.propose_int8 = set.propose_int8_wide = propose_int8_neon;
  }
#endif
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
