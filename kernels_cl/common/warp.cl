// What the 32 work-items of a warp tell each other: only for NVIDIA's compiler, which takes PTX for compute
// capability 8.0 and newer. All of a warp calls these together.
// No twin in kernels_cuda: the language has these, as __ballot_sync() and its like.

// Bit l: whether item l has `mine`.
uint votes_of_warp(bool mine) {
  uint votes;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
               : "=r"(votes)
               : "r"((uint)mine)
               : "memory");
  return votes;
}

// The value of item `which`.
uint of_item(uint value, uint which) {
  uint got;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;"
               : "=r"(got)
               : "r"(value), "r"(which)
               : "memory");
  return got;
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

// The largest, of numbers that are not negative, so that their bits have their order.
float largest_of_warp(float mine) {
  return as_float(most_of_warp(as_uint(mine)));
}
