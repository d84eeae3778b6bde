// select, bubble, for CPU devices: each bubble is a lane of a vector. See select_bubble.cl.
//
//   distances [q, t]            row-major, stride in elements, NaN only if masked
//   out       [q, lists * k]    keys, ascending in each list, padded with NO_KEY
//
// Work-item w selects list w. In step s bubble b takes value s - b, as the bubbles before it have left it: a
// minimum and a maximum are computed, and the value that is left moves on by one lane. Bubbles enter one
// after another (growing), walk together (stable), and leave one after another at the end. Vectors that have
// not yet entered, or have left, are skipped.
// Work: t / lists + k steps, with k / 16 vectors each. No barrier. With VECTORS, that many vectors of
// bubbles are in registers; without it they are in `bubbles`, which has 2 * 16 keys per vector (-D
// WINDOW=local; or global if that is too much, and then it is scratch). Source: He, Pu, Li, Yan, PBKNN,
// Application of Electronic Technique 42(2), 2016. There each work-item is a bubble.
// No twin in kernels_cuda: CUDA has no CPU devices.
#include "common/common.cl"

// Does one step of 16 bubbles. They carry `*carried`, and left `*left` in the last step. `met` is the value
// that the bubble before them left; returns the value that their last bubble left.
Key walk(ulong16* carried, ulong16* left, Key met) {
  const Key last = left->sF;
  const ulong16 found = (ulong16)(met, left->s0123, left->s4567, left->s89AB, left->sCD, left->sE);
  *left = max(*carried, found);
  *carried = min(*carried, found);
  return last;
}

kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kith_select_bubble_lanes(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint k,
    uint lists, global Key* restrict out, Place out_at, WINDOW Key* bubbles, ulong bubbles_stride) {
  const ulong q = get_group_id(0) / lists;
  const uint g = (uint)(get_group_id(0) % lists), begin = first_column(g, columns, lists);
  const uint width = first_column(g + 1, columns, lists) - begin, walking = min(k, width);
  const ulong steps = width == 0 ? 0 : (ulong)width + walking - 1;
  global const float* values = distances + distances_at.first + q * distances_at.stride + begin;
  global Key* list = out + out_at.first + q * out_at.stride + (ulong)g * k;

#ifdef VECTORS
  ulong16 carried[VECTORS], left[VECTORS];
#pragma unroll
  for (uint v = 0; v < VECTORS; ++v) carried[v] = left[v] = (ulong16)(NO_KEY);
  for (ulong s = 0; s < steps; ++s) {
    Key met = s < width ? make_key(values[s], first_row + begin + (uint)s) : NO_KEY;
#pragma unroll
    for (uint v = 0; v < VECTORS; ++v) met = walk(carried + v, left + v, met);
  }
  Key found[16 * VECTORS];
#pragma unroll
  for (uint v = 0; v < VECTORS; ++v) vstore16(carried[v], v, found);
#else
  const uint vectors = (walking + 15) / 16;
  WINDOW Key* found = bubbles + get_group_id(0) * bubbles_stride;
  WINDOW Key* behind = found + (ulong)vectors * 16;
  for (ulong i = 0; i < (ulong)vectors * 32; ++i) found[i] = NO_KEY;
  for (ulong s = 0; s < steps; ++s) {
    Key met = s < width ? make_key(values[s], first_row + begin + (uint)s) : NO_KEY;
    const ulong entered = min((ulong)vectors, s / 16 + 1);
    for (ulong v = s < width ? 0 : (s - width) / 16; v < entered; ++v) {
      ulong16 carried = vload16(v, found), left = vload16(v, behind);
      met = walk(&carried, &left, met);
      vstore16(carried, v, found);
      vstore16(left, v, behind);
    }
  }
#endif
  for (uint b = 0; b < k; ++b) list[b] = b < walking ? found[b] : NO_KEY;
}
