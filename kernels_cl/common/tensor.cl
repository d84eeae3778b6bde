// Tensor cores, and what belongs to them: only for NVIDIA's compiler, which takes PTX for compute capability
// 8.0 and newer. A warp is 32 work-items, and all of it calls these together.
//
// Local memory goes by its PTX address, 16 bytes a piece, here; global memory by pointers.
#define PIECE_BYTES 16

uint local_address(local const uint4* at) {
  return (uint)(ulong)at;
}

// Copy a piece, while others work; then end a batch of such copies; then wait until all batches of this item
// but the last `left` have come. Others see them behind a barrier.
void copy_piece(uint to, global const uint4* from) {
  asm volatile(
      "{ .reg .u64 g; cvta.to.global.u64 g, %1; cp.async.cg.shared.global [%0], [g], 16; }" ::"r"(to),
      "l"(from)
      : "memory");
}

#define END_BATCH() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT_FOR_BATCHES(left) asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory")

// Four matrices of 8 rows by 8 halves; item l gives the address of row l % 8 of matrix l / 8, and gets of
// each the halves 2 (l % 4) and 2 (l % 4) + 1 of row l / 4.
#define LOAD_MATRICES(to, address)                                             \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" \
               : "=r"((to)[0]), "=r"((to)[1]), "=r"((to)[2]), "=r"((to)[3])    \
               : "r"(address)                                                  \
               : "memory")

// c += a b, a of 16 rows by 16 dimensions, b of 16 dimensions by 8 columns. Of a: rows 0-7, rows 8-15, and
// both 8 dimensions on. Of b: 8 columns, and 8 dimensions on. Item l has of c row l / 4, columns 2 (l % 4)
// and one more, and the same of row l / 4 + 8.
#define MULTIPLY(c, a, b0, b1)                                 \
  asm volatile(                                                \
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "     \
      "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"     \
      : "+f"((c)[0]), "+f"((c)[1]), "+f"((c)[2]), "+f"((c)[3]) \
      : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"(b0), "r"(b1))

// The same of signed bytes, with 32 dimensions for 16.
#define MULTIPLY_BYTES(c, a, b0, b1)                           \
  asm volatile(                                                \
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "       \
      "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"     \
      : "+r"((c)[0]), "+r"((c)[1]), "+r"((c)[2]), "+r"((c)[3]) \
      : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"(b0), "r"(b1))

// c = a b
#define MULTIPLY_FIRST(c, a, b0, b1)                           \
  asm volatile(                                                \
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "     \
      "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%10,%10,%10};" \
      : "=f"((c)[0]), "=f"((c)[1]), "=f"((c)[2]), "=f"((c)[3]) \
      : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"(b0), "r"(b1), "f"(0.0f))

// Whether any item of the warp has `mine`.
bool any_of_warp(bool mine) {
  uint any;
  asm volatile(
      "{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.any.pred p, p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
      : "=r"(any)
      : "r"((uint)mine)
      : "memory");
  return any != 0;
}

// Returns whether any item of the warp has `bits` whose highest bit is 0. That bit is the sign, so that this
// finds a number that is not negative.
bool any_first_clear(uint bits) {
  uint any;
  asm volatile(
      "{ .reg .pred p; setp.ge.s32 p, %1, 0; vote.sync.any.pred p, p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
      : "=r"(any)
      : "r"(bits)
      : "memory");
  return any != 0;
}

// a & b & c, one instruction; not to be put in another order.
uint and_of_three(uint a, uint b, uint c) {
  uint all;
  asm("lop3.b32 %0, %1, %2, %3, 0x80;" : "=r"(all) : "r"(a), "r"(b), "r"(c));
  return all;
}

// The value of item `which` of the four neighbours that one is of.
uint of_four(uint value, uint which) {
  uint got;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1c1f, 0xffffffff;"
               : "=r"(got)
               : "r"(value), "r"(which)
               : "memory");
  return got;
}

// The items of the warp go on together.
#define JOIN_WARP() asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")

// The same value, of which compilers know nothing: so what is seldom computed from it is not computed before
// a loop, and takes no registers there.
uint hidden(uint value) {
  uint same;
  asm volatile("mov.u32 %0, %1;" : "=r"(same) : "r"(value) : "memory");
  return same;
}
