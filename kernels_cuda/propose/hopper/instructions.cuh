// Wrappers of the matrix instructions of compute capability 9.0: copies that complete at a barrier in shared
// memory, products by a group of four warps, and pairs of blocks that share their copies. Source: PTX ISA,
// wgmma, cp.async.bulk and mbarrier.
// No twin in kernels_cl: the OpenCL back end multiplies by mma.sync alone.
#pragma once

#include <cstdint>

namespace kith::cuda::hopper {

using Barrier = std::uint64_t;

__device__ __forceinline__ std::uint32_t shared_address(const void* at) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
}

__device__ __forceinline__ void start(Barrier* barrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
               : "memory");
}

/// Makes barriers visible to copies and to other blocks of the cluster. It comes after start(), before any of
/// them uses the barriers.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Arrives at the barrier, which then also waits for this many bytes of copies.
__device__ __forceinline__ void expect(Barrier* barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void arrive(Barrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Arrives at the same barrier of block `rank` of the cluster. Between blocks these barriers hand over places
/// that copies fill and products read, and nothing that a thread has written: a release to the whole cluster
/// would let the warp wait for all its writes, some 1,000 cycles for each slab.
__device__ __forceinline__ void arrive_at(Barrier* barrier, std::uint32_t rank) {
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(rank)
      : "memory");
}

/// Waits until the phase of this parity is over. What copies have brought is then visible, and what threads
/// of this block released.
__device__ __forceinline__ void wait(Barrier* barrier, std::uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

/// Copies contiguous bytes; their arrival counts at the barrier. Both addresses and the size are multiples
/// of 16.
__device__ __forceinline__ void copy(void* to, const void* from, std::uint32_t bytes, Barrier* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(to)),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

/// Copies to the same address in both blocks of a pair. The arrival counts at the barrier of each block.
__device__ __forceinline__ void copy_to_both(void* to, const void* from, std::uint32_t bytes,
                                             Barrier* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, "
      "[%3], %4;" ::"r"(shared_address(to)),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier)),
      "h"(static_cast<std::uint16_t>(3))
      : "memory");
}

__device__ __forceinline__ std::uint32_t rank_in_cluster() {
  std::uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// Waits for all threads of the cluster.
__device__ __forceinline__ void meet_cluster() {
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
}

/// Lowers the number of registers of each thread in a group of four warps.
template <int registers>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

/// Returns the wgmma descriptor of a matrix in shared memory, of 16-bit floats or bytes. Its lines have 128,
/// 64 or 32 bytes and are swizzled; each eight lines are aligned to their size.
__device__ __forceinline__ std::uint64_t matrix_at(const void* rows, std::uint32_t line_bytes) {
  const std::uint64_t swizzle = line_bytes == 128 ? 1 : line_bytes == 64 ? 2 : 3;
  const std::uint64_t address = (shared_address(rows) & 0x3FFFFu) >> 4;
  const std::uint64_t eight_lines = 8 * line_bytes >> 4;
  return address | std::uint64_t{1} << 16 | eight_lines << 32 | swizzle << 62;
}

/// The sums of 64 queries by 128 rows, float for 16-bit floats and int for bytes. In warp w, sum [4 j + e] of
/// a lane belongs to query 16 w + lane / 4 (plus 8 for e >= 2) and to row 8 j + 2 (lane % 4) + e % 2.
template <class Sum>
using Sums = Sum[64];

/// Orders earlier writes of registers before the multiply() that reads them.
__device__ __forceinline__ void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most `groups` committed groups of products are unfinished.
template <int groups>
__device__ __forceinline__ void wait_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}
/// Waits as wait_products(). All products of `sums` are then finished; the compiler does not read these sums
/// before.
template <int unfinished>
__device__ __forceinline__ void finish_products(Sums<float>& sums) {
  wait_products<unfinished>();
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}
template <int unfinished>
__device__ __forceinline__ void finish_products(Sums<int>& sums) {
  wait_products<unfinished>();
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("" : "+r"(sums[i])::"memory");
}

#define KITH_FOUR(kind, c, i) kind((c)[i]), kind((c)[(i) + 1]), kind((c)[(i) + 2]), kind((c)[(i) + 3])
#define KITH_SIXTEEN(kind, c, i)                                                   \
  KITH_FOUR(kind, c, i), KITH_FOUR(kind, c, (i) + 4), KITH_FOUR(kind, c, (i) + 8), \
      KITH_FOUR(kind, c, (i) + 12)
#define KITH_SIXTY_FOUR(kind, c, i)                                                           \
  KITH_SIXTEEN(kind, c, i), KITH_SIXTEEN(kind, c, (i) + 16), KITH_SIXTEEN(kind, c, (i) + 32), \
      KITH_SIXTEEN(kind, c, (i) + 48)
#define KITH_NUMBERS                                                 \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"           \
  "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31," \
  "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47," \
  "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"

/// Computes sums = a b, or sums + a b. `a` has 64 rows by 32 bytes of dimensions; b has 128 rows by as many.
#define KITH_MULTIPLY(Type, kind, type, transposed)                                                        \
  __device__ __forceinline__ void multiply(Sums<Type>& sums, std::uint64_t a, std::uint64_t b, bool add) { \
    asm volatile(                                                                                          \
        "{\n"                                                                                              \
        ".reg .pred add;\n"                                                                                \
        "setp.ne.b32 add, %66, 0;\n"                                                                       \
        "wgmma.mma_async.sync.aligned.m64n128" type " {" KITH_NUMBERS "}, %64, %65, add" transposed        \
        ";\n"                                                                                              \
        "}\n"                                                                                              \
        : KITH_SIXTY_FOUR(kind, sums, 0)                                                                   \
        : "l"(a), "l"(b), "r"(static_cast<int>(add)));                                                     \
  }
KITH_MULTIPLY(float, "+f", "k16.f32.f16.f16", ", 1, 1, 0, 0")
KITH_MULTIPLY(int, "+r", "k32.s32.s8.s8", "")

#undef KITH_MULTIPLY
#undef KITH_NUMBERS
#undef KITH_SIXTY_FOUR
#undef KITH_SIXTEEN
#undef KITH_FOUR

}  // namespace kith::cuda::hopper
