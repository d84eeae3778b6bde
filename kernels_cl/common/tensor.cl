// Functions of tensor cores, and asynchronous copies: only for NVIDIA's compiler, which accepts PTX for
// compute capability 8.0 and newer. The 32 work-items of a warp call them together.
//
// Local memory is addressed by its PTX address, in pieces of 16 bytes; global memory by pointers.
#define PIECE_BYTES 16

uint local_address(local const uint4* at) {
  return (uint)(ulong)at;
}

// Read 16 or 8 bytes that are needed once. Compilers keep the order of these and of the products, so that
// what is read early is on its way meanwhile.
uint4 read_four_once(global const uint4* from) {
  uint a, b, c, d;
  asm volatile(
      "{ .reg .u64 g; cvta.to.global.u64 g, %4; "
      "ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0,%1,%2,%3}, [g]; }"
      : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
      : "l"(from));
  return (uint4)(a, b, c, d);
}

uint2 read_two_once(global const uint2* from) {
  uint a, b;
  asm volatile(
      "{ .reg .u64 g; cvta.to.global.u64 g, %2; "
      "ld.global.nc.L1::no_allocate.L2::256B.v2.u32 {%0,%1}, [g]; }"
      : "=r"(a), "=r"(b)
      : "l"(from));
  return (uint2)(a, b);
}

// Begins to copy a piece asynchronously. The next function ends a batch of such copies; the one after
// it waits until all batches of this item but the last `left` have arrived. Other items see them after
// a barrier.
void copy_piece(uint to, global const uint4* from) {
  asm volatile(
      "{ .reg .u64 g; cvta.to.global.u64 g, %1; cp.async.cg.shared.global [%0], [g], 16; }" ::"r"(to),
      "l"(from)
      : "memory");
}

// Does the same for half a piece.
void copy_half_piece(uint to, global const void* from) {
  asm volatile("{ .reg .u64 g; cvta.to.global.u64 g, %1; cp.async.ca.shared.global [%0], [g], 8; }" ::"r"(to),
               "l"(from)
               : "memory");
}

#define END_BATCH() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT_FOR_BATCHES(left) asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory")

// Load four words, or two floats, from an address in local memory.
#define LOAD_FOUR(to, address)                                          \
  asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3}, [%4];"                  \
               : "=r"((to).x), "=r"((to).y), "=r"((to).z), "=r"((to).w) \
               : "r"(address)                                           \
               : "memory")
#define LOAD_TWO_FLOATS(to, address) \
  asm volatile("ld.shared.v2.f32 {%0,%1}, [%2];" : "=f"((to).x), "=f"((to).y) : "r"(address) : "memory")

// Loads four matrices of 8 by 8 halves. Item l passes the address of row l % 8 of matrix l / 8, and gets of
// each matrix halves 2 (l % 4) and 2 (l % 4) + 1 of row l / 4.
#define LOAD_MATRICES(to, address)                                             \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" \
               : "=r"((to)[0]), "=r"((to)[1]), "=r"((to)[2]), "=r"((to)[3])    \
               : "r"(address)                                                  \
               : "memory")

// Computes c += a b, with a of 16 rows by 16 dimensions and b of 16 dimensions by 8 columns. The matrices of
// a are rows 0-7, rows 8-15, then both for the next 8 dimensions; those of b are 8 columns, then the same for
// the next 8 dimensions. Item l holds columns 2 (l % 4) and 2 (l % 4) + 1 of rows l / 4 and l / 4 + 8 of c.
#define MULTIPLY(c, a, b0, b1)                                 \
  asm volatile(                                                \
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "     \
      "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"     \
      : "+f"((c)[0]), "+f"((c)[1]), "+f"((c)[2]), "+f"((c)[3]) \
      : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"(b0), "r"(b1))

// Does the same for signed bytes, with 32 dimensions instead of 16.
#define MULTIPLY_BYTES(c, a, b0, b1)                           \
  asm volatile(                                                \
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "       \
      "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"     \
      : "+r"((c)[0]), "+r"((c)[1]), "+r"((c)[2]), "+r"((c)[3]) \
      : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"(b0), "r"(b1))

// Computes c = a b.
#define MULTIPLY_FIRST(c, a, b0, b1)                           \
  asm volatile(                                                \
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "     \
      "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%10,%10,%10};" \
      : "=f"((c)[0]), "=f"((c)[1]), "=f"((c)[2]), "=f"((c)[3]) \
      : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"(b0), "r"(b1), "f"(0.0f))

// Computes c = a b + first for signed bytes, with 32 dimensions.
#define MULTIPLY_BYTES_FIRST(c, a, b0, b1, first)                                             \
  asm volatile(                                                                               \
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "                                      \
      "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};"                                \
      : "=r"((c)[0]), "=r"((c)[1]), "=r"((c)[2]), "=r"((c)[3])                                \
      : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"(b0), "r"(b1), "r"((first).x), \
        "r"((first).y), "r"((first).z), "r"((first).w))

// Returns whether `mine` is true for any item of the warp.
bool any_of_warp(bool mine) {
  uint any;
  asm volatile(
      "{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.any.pred p, p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
      : "=r"(any)
      : "r"((uint)mine)
      : "memory");
  return any != 0;
}

// Returns whether the highest bit of `bits` is 0 for any item of the warp. It is the sign bit, so this finds
// numbers that are not negative.
bool any_first_clear(uint bits) {
  uint any;
  asm volatile(
      "{ .reg .pred p; setp.ge.s32 p, %1, 0; vote.sync.any.pred p, p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
      : "=r"(any)
      : "r"(bits)
      : "memory");
  return any != 0;
}

// Returns a & b & c in one instruction, which the compiler cannot reorder.
uint and_of_three(uint a, uint b, uint c) {
  uint all;
  asm("lop3.b32 %0, %1, %2, %3, 0x80;" : "=r"(all) : "r"(a), "r"(b), "r"(c));
  return all;
}

// Returns the value of item `which` of the four neighbours that this item belongs to.
uint of_four(uint value, uint which) {
  uint got;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1c1f, 0xffffffff;"
               : "=r"(got)
               : "r"(value), "r"(which)
               : "memory");
  return got;
}

// Waits for all items of the warp.
#define JOIN_WARP() asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")

// Returns the same value, but hides this from the compiler, so that it does not compute rarely needed results
// before a loop, where they would occupy registers.
uint hidden(uint value) {
  uint same;
  asm volatile("mov.u32 %0, %1;" : "=r"(same) : "r"(value) : "memory");
  return same;
}
