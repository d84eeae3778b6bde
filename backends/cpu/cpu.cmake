# The CPU back end is part of libkith; its inner loops are compiled once for each instruction set and
# chosen at run time (isa/instruction_set.cpp has the same lists). All of them return the same bits.
set(cpu_folder ${CMAKE_CURRENT_LIST_DIR}/isa)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set_property(SOURCE ${cpu_folder}/kernels_avx2.cpp ${cpu_folder}/kernels_bytes_avx2.cpp
    ${cpu_folder}/kernels_bytes_wide_avx2.cpp APPEND PROPERTY COMPILE_OPTIONS -mavx2 -mfma)
  set_property(SOURCE ${cpu_folder}/kernels_avx512.cpp APPEND PROPERTY COMPILE_OPTIONS
    -mavx512f -mavx2 -mfma -mprefer-vector-width=512)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS "-mamx-tile -mamx-bf16 -mamx-int8 -mavx512f")
  check_cxx_source_compiles("#include <immintrin.h>
    int main() { _tile_zero(0); _tile_dpbf16ps(0, 1, 2); _tile_dpbssd(0, 1, 2); }" KITH_COMPILES_AMX)
  set(CMAKE_REQUIRED_FLAGS "-mavx512f -mavx512vnni")
  check_cxx_source_compiles("#include <immintrin.h>
    int main() { __m512i a = _mm512_setzero_si512(); a = _mm512_dpbusd_epi32(a, a, a); }" KITH_COMPILES_VNNI)
  unset(CMAKE_REQUIRED_FLAGS)
  if(KITH_COMPILES_VNNI)
    set_property(SOURCE ${cpu_folder}/kernels_bytes_vnni.cpp ${cpu_folder}/instruction_set.cpp
      APPEND PROPERTY COMPILE_DEFINITIONS KITH_CPU_VNNI)
    set_property(SOURCE ${cpu_folder}/kernels_bytes_vnni.cpp APPEND PROPERTY COMPILE_OPTIONS
      -mavx512f -mavx512vnni -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
  endif()
  if(KITH_COMPILES_AMX)
    set_property(SOURCE ${cpu_folder}/kernels_amx.cpp ${cpu_folder}/instruction_set.cpp
      APPEND PROPERTY COMPILE_DEFINITIONS KITH_CPU_AMX)
    set_property(SOURCE ${cpu_folder}/kernels_amx.cpp APPEND PROPERTY COMPILE_OPTIONS
      -mamx-tile -mamx-bf16 -mamx-int8 -mavx512f -mavx512bw -mavx512dq -mavx512vl)
  endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set_property(SOURCE ${cpu_folder}/kernels_bytes_neon.cpp APPEND PROPERTY COMPILE_OPTIONS -march=armv8.2-a+dotprod)
endif()
if(KITH_SANITIZE)
  # Unrolled tiles with a check at each operation take clang two minutes to compile. Their source is that of
  # kernels_baseline.cpp, which has these checks, and which the gate `asan` runs, too, therefore.
  set_property(SOURCE ${cpu_folder}/kernels_avx2.cpp ${cpu_folder}/kernels_avx512.cpp
    APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=undefined)
else()
  # -O3 in every build but Debug: the unrolled tiles stay in registers only then.
  set_property(SOURCE ${cpu_folder}/kernels_baseline.cpp ${cpu_folder}/kernels_avx2.cpp
    ${cpu_folder}/kernels_avx512.cpp ${cpu_folder}/kernels_amx.cpp ${cpu_folder}/kernels_bytes_avx2.cpp
    ${cpu_folder}/kernels_bytes_wide_avx2.cpp ${cpu_folder}/kernels_bytes_vnni.cpp ${cpu_folder}/kernels_neon.cpp
    ${cpu_folder}/kernels_bytes_neon.cpp APPEND PROPERTY COMPILE_OPTIONS $<$<NOT:$<CONFIG:Debug>>:-O3>)
endif()
