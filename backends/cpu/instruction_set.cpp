#include "cpu/instruction_set.hpp"

#include <cstdlib>

#include "kith/error.hpp"

namespace kith::cpu {
namespace {

/// In the order of preference.
struct Build {
  const char* name;
  const Kernels& (*kernels)();
  bool (*runs_here)();
};

// Each test names what its build is compiled for; cpu.cmake has the same lists.
constexpr Build builds[] = {
#if defined(__x86_64__)
    {"avx512", kernels_avx512,
     [] {
       return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx2") &&
              __builtin_cpu_supports("fma");
     }},
    {"avx2", kernels_avx2, [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }},
#endif
    {"baseline", kernels_baseline, [] { return true; }},
};

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
    if (build.runs_here()) return {build.name, &build.kernels()};
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
