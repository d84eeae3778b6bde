// One pass of a stable radix sort, by DIGIT_BITS bits. It sorts places along a curve or in a cut, together
// with row numbers.
//
//   from, to          [n]               places, 64 bits each
//   numbers, sorted   [n]               the row numbers that belong to these
//   counts            [DIGITS, groups]  first how many places in a group's part have a digit; then how many
//                                       places come before the first of these
//
// Work-group g of GROUP items handles places g x part ... (g + 1) x part - 1; part is a multiple of TILE,
// except for the last group. kith_count_digits counts; kith_sum_counts sums, in a single work-group;
// kith_scatter_places takes tile after tile. An item counts the digits of ITEM_PLACES successive places. The
// sum of all counts before a place, in the order of digits and then of items, is where it goes. There are no
// global atomics, so the order is always the same. Local memory: 16 x GROUP counts.
// Work per pass: places are read twice and written once. Source: Satish, Harris, Garland, Designing efficient
// sorting algorithms for manycore GPUs, 2009.
// No twin in kernels_cuda: CUB sorts there (radix_sort.cu).
#include "common/common.cl"

#define DIGIT_BITS 4
#define DIGITS 16
#define GROUP 256
#define ITEM_PLACES 8
#define TILE (GROUP * ITEM_PLACES)

uint digit_of(ulong place, uint shift) {
  return (uint)(place >> shift) & (DIGITS - 1);
}

// Returns the sum of the numbers of all items before this one. `sums` is local memory of the group; two
// barriers per round.
uint sum_before(uint mine, uint lid, local uint* sums) {
  sums[lid] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint reach = 1; reach < GROUP; reach *= 2) {
    const uint other = lid >= reach ? sums[lid - reach] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[lid] += other;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const uint before = sums[lid] - mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  return before;
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_count_digits(
    global const ulong* restrict from, ulong from_first, uint n, uint part, uint shift,
    global uint* restrict counts, ulong counts_first) {
  local uint own[DIGITS][GROUP];
  local uint sixteenth[DIGITS][DIGITS];
  const uint lid = (uint)get_local_id(0), g = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
  const ulong begin = (ulong)g * part, end = min((ulong)n, begin + part);
  for (uint d = 0; d < DIGITS; ++d) own[d][lid] = 0;
  for (ulong i = begin + lid; i < end; i += GROUP) ++own[digit_of(from[from_first + i], shift)][lid];
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint digit = lid / DIGITS, share = lid % DIGITS;  // GROUP is DIGITS x DIGITS
  uint sum = 0;
  for (uint i = 0; i < GROUP / DIGITS; ++i) sum += own[digit][i * DIGITS + share];
  sixteenth[digit][share] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid >= DIGITS) return;
  sum = 0;
  for (uint i = 0; i < DIGITS; ++i) sum += sixteenth[lid][i];
  counts[counts_first + (ulong)lid * groups + g] = sum;
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_sum_counts(global uint* restrict counts,
                                                                               ulong counts_first,
                                                                               uint many) {
  local uint sums[GROUP];
  const uint lid = (uint)get_local_id(0), each = (many + GROUP - 1) / GROUP;
  const uint begin = min(many, lid * each), end = min(many, begin + each);
  counts += counts_first;
  uint sum = 0;
  for (uint i = begin; i < end; ++i) sum += counts[i];
  uint before = sum_before(sum, lid, sums);
  for (uint i = begin; i < end; ++i) {
    const uint count = counts[i];
    counts[i] = before;
    before += count;
  }
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_scatter_places(
    global const ulong* restrict from, ulong from_first, global const uint* restrict numbers,
    ulong numbers_first, uint n, uint part, uint shift, global const uint* restrict counts,
    ulong counts_first, global ulong* restrict to, ulong to_first, global uint* restrict sorted,
    ulong sorted_first) {
  local ushort before[DIGITS * GROUP];  // counts of the tile, in the order of digits, then of items
  local uint sums[GROUP], base[DIGITS], next[DIGITS];
  const uint lid = (uint)get_local_id(0), g = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
  const ulong begin = (ulong)g * part, end = min((ulong)n, begin + part);
  if (lid < DIGITS) base[lid] = counts[counts_first + (ulong)lid * groups + g];
  for (ulong tile = begin; tile < end; tile += TILE) {
    const ulong first = tile + lid * ITEM_PLACES;
    ulong mine[ITEM_PLACES];
    ushort rank[ITEM_PLACES];
    for (uint d = 0; d < DIGITS; ++d) before[d * GROUP + lid] = 0;
    for (uint j = 0; j < ITEM_PLACES; ++j)
      if (first + j < end) {
        mine[j] = from[from_first + first + j];
        rank[j] = before[digit_of(mine[j], shift) * GROUP + lid]++;
      }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = 0;
    for (uint i = 0; i < DIGITS; ++i) sum += before[lid * DIGITS + i];
    sum = sum_before(sum, lid, sums);
    for (uint i = 0; i < DIGITS; ++i) {
      const ushort count = before[lid * DIGITS + i];
      before[lid * DIGITS + i] = (ushort)sum;
      sum += count;
    }
    if (lid % DIGITS == DIGITS - 1) next[lid / DIGITS] = sum;  // items 16 d ... 16 d + 15 handle digit d
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < ITEM_PLACES; ++j)
      if (first + j < end) {
        const uint d = digit_of(mine[j], shift);
        const ulong at = (ulong)base[d] + (before[d * GROUP + lid] + rank[j] - before[d * GROUP]);
        to[to_first + at] = mine[j];
        sorted[sorted_first + at] = numbers[numbers_first + first + j];
      }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < DIGITS) base[lid] += next[lid] - before[lid * GROUP];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
