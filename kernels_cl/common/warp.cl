// Communication among the 32 work-items of a warp: only for NVIDIA's compiler, which accepts PTX for compute
// capability 8.0 and newer. All items of a warp call these functions together.
// No twin in kernels_cuda: CUDA has functions for these, such as __ballot_sync().

// Returns a mask whose bit l is `mine` of item l.
uint votes_of_warp(bool mine) {
  uint votes;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
               : "=r"(votes)
               : "r"((uint)mine)
               : "memory");
  return votes;
}

// Returns the value of item `which`.
uint of_item(uint value, uint which) {
  uint got;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;"
               : "=r"(got)
               : "r"(value), "r"(which)
               : "memory");
  return got;
}

// Returns the value of the item whose number differs in the bits of `mask`.
ulong of_partner(ulong value, uint mask) {
  const uint2 mine = as_uint2(value);
  uint2 got;
  asm volatile(
      "shfl.sync.bfly.b32 %0, %2, %4, 0x1f, 0xffffffff; shfl.sync.bfly.b32 %1, %3, %4, 0x1f, 0xffffffff;"
      : "=&r"(got.x), "=r"(got.y)
      : "r"(mine.x), "r"(mine.y), "r"(mask)
      : "memory");
  return as_ulong(got);
}

uint sum_of_warp(uint mine) {
  uint sum;
  asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(sum) : "r"(mine) : "memory");
  return sum;
}

uint least_of_warp(uint mine) {
  uint least;
  asm volatile("redux.sync.min.u32 %0, %1, 0xffffffff;" : "=r"(least) : "r"(mine) : "memory");
  return least;
}

uint most_of_warp(uint mine) {
  uint most;
  asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(most) : "r"(mine) : "memory");
  return most;
}

// Returns the largest of numbers that are not negative; the order of their bits is therefore theirs.
float largest_of_warp(float mine) {
  return as_float(most_of_warp(as_uint(mine)));
}
