// A warp multiplies matrices of 16-bit floats or of signed bytes.
#pragma once

#include <cstdint>

namespace kith::cuda {

/// Loads four matrices of 8 by 8 halves. Lane l passes the address, in shared memory, of row l % 8 of matrix
/// l / 8.
__device__ __forceinline__ void load_matrices(std::uint32_t (&to)[4], std::uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from)
               : "memory");
}
__device__ __forceinline__ void load_matrices(std::uint32_t (&to)[4], const uint4* from) {
  load_matrices(to, static_cast<std::uint32_t>(__cvta_generic_to_shared(from)));
}

/// Computes c += a b, with a of 16 rows by 16 dimensions and b of 16 dimensions by 8 columns (PTX ISA,
/// mma.m16n8k16). With g = lane / 4 and i = lane % 4, a lane holds:
///   a [4]   dimensions 2 i and 2 i + 1 of rows g and g + 8, then dimensions 2 i + 8 and 2 i + 9 of both
///   b0, b1  dimensions 2 i and 2 i + 1 of column g, then 2 i + 8 and 2 i + 9
///   c [4]   columns 2 i and 2 i + 1 of row g, then of row g + 8
__device__ __forceinline__ void multiply(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                         std::uint32_t b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  __trap();  // check() refuses older devices
#endif
}

/// Does the same for signed bytes, with a of 16 rows by 32 dimensions and b of 32 dimensions by 8 columns
/// (mma.m16n8k32). A register holds four bytes: dimensions 4 i ... 4 i + 3, or those plus 16.
__device__ __forceinline__ void multiply(int (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                         std::uint32_t b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  __trap();
#endif
}

}  // namespace kith::cuda
