// tighten by bounds, for GPUs: computes the threshold from the k-th smallest bound of the listed candidates.
//
//   keys       [q, capacity]  bounds, in any order, stride in elements; `counts` says how many each row has
//   counts     [q]            may exceed the capacity, stride in elements
//   lost       [q]            becomes 1 if counts is above the capacity; stride in elements
//   row_terms  [4, q]         with -D HALVES: of the quantized queries, stride in elements
//   threshold  [q]            in and out: it never grows; with fewer than k candidates it does not change
//
// With -D SAMPLE keys are only codes, every row has `capacity` of them, and counts and lost are not used.
// Work-group q of GROUP items handles query q. Only the value of the k-th bound is needed, not its row. The
// difference of each code to the least code is counted by its highest DIGIT_BITS bits; then codes with the
// digit of the k-th are counted by their next bits, until at most GROUP codes are left; each of these is
// compared with all others. Local memory: one counter per digit, and the first CODES codes, a multiple of
// GROUP, so that only later codes are read more than once.
// Work: the bounds are read once, those behind CODES three to five times. Source: selection by the digits of
// the keys.
#include "bound/threshold.cl"

#define DIGITS (1u << DIGIT_BITS)  // at least GROUP
#define AT_ONCE 4                  // keys that an item reads before it examines the first
#define PART 16                    // sums that one item adds

// What the items of a group share.
typedef struct {
  uint least, most;            // codes
  uint digit, before, inside;  // digit of the k-th code; codes with a smaller one, or the same
  uint taken;
  uint code;  // the k-th code
} Found;

#ifdef SAMPLE
typedef uint Listed;
uint code_of(Listed code) {
  return code;
}
#else
typedef Key Listed;
uint code_of(Listed key) {
  return (uint)(key >> 32);
}
#endif

// Reads the codes at places j, j + GROUP, ...; behind the last place, the last code again. The function is
// inlined, so that the codes stay in registers.
ALL_INLINE void read_codes(global const Listed* keys, uint many, uint j, uint* code) {
#pragma unroll
  for (uint i = 0; i < AT_ONCE; ++i) code[i] = code_of(keys[min(j + i * GROUP, many - 1)]);
}

// Finds the least and the largest code, and keeps the first codes in `codes`: only item j % GROUP reads
// codes[j] again.
void find_range(global const Listed* keys, uint many, local uint* codes, local Found* found) {
  const uint lid = (uint)get_local_id(0);
  uint least = 0xFFFFFFFFu, most = 0;
  if (lid == 0) {
    found->least = least;
    found->most = most;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint j = lid; j < many; j += AT_ONCE * GROUP) {
    uint code[AT_ONCE];
    read_codes(keys, many, j, code);
#pragma unroll
    for (uint i = 0; i < AT_ONCE; ++i) {
      least = min(least, code[i]);
      most = max(most, code[i]);
      if (j + i * GROUP < CODES) codes[j + i * GROUP] = code[i];
    }
  }
  atomic_min(&found->least, least);
  atomic_max(&found->most, most);
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Handles a code that is at most `span` above the base: its difference `above` is counted in bins of 2^shift,
// or listed.
void put_code(uint above, uint span, uint shift, bool list, local uint* bins, local Found* found) {
  if (above > span) return;
  if (list)
    bins[atomic_inc(&found->taken)] = above;
  else
    atomic_inc(bins + (above >> shift));
}

void put_codes(global const Listed* keys, uint many, local const uint* codes, uint base, uint span,
               uint shift, bool list, local uint* bins, local Found* found) {
  const uint lid = (uint)get_local_id(0), here = min(many, (uint)CODES);
  for (uint j = lid; j < here; j += GROUP) put_code(codes[j] - base, span, shift, list, bins, found);
  for (uint j = CODES + lid; j < many; j += AT_ONCE * GROUP) {
    uint code[AT_ONCE];
    read_codes(keys, many, j, code);
#pragma unroll
    for (uint i = 0; i < AT_ONCE; ++i)
      if (j + i * GROUP < many) put_code(code[i] - base, span, shift, list, bins, found);
  }
}

// Finds the digit of the k-th code from the counts. A barrier comes before it, and it ends with one.
//   sums  [GROUP + GROUP / PART]
void find_digit(local const uint* bins, local uint* sums, uint k, local Found* found) {
  const uint each = DIGITS / GROUP, lid = (uint)get_local_id(0);
  local uint* parts = sums + GROUP;
  uint mine = 0, before = 0;
  for (uint i = 0; i < each; ++i) mine += bins[lid * each + i];
  sums[lid] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid < GROUP / PART) {
    uint part = 0;
    for (uint i = 0; i < PART; ++i) part += sums[lid * PART + i];
    parts[lid] = part;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = 0; i < lid / PART; ++i) before += parts[i];
  for (uint i = lid / PART * PART; i < lid; ++i) before += sums[i];
  if (before < k && k <= before + mine) {
    uint digit = lid * each;
    for (; before + bins[digit] < k; ++digit) before += bins[digit];
    found->digit = digit;
    found->before = before;
    found->inside = bins[digit];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Returns the k-th smallest of `many` codes; many is at least k.
uint kth_code(global const Listed* keys, uint many, uint k, local uint* codes, local uint* bins,
              local uint* sums, local Found* found) {
  const uint lid = (uint)get_local_id(0);
  find_range(keys, many, codes, found);
  // The k-th code is one of the `inside` codes that are at most `span` above `base`.
  uint base = found->least, span = found->most - base, inside = many;
  while (span > 0 && inside > GROUP) {
    const uint bits = 32 - clz(span), shift = bits - min(bits, (uint)DIGIT_BITS);
    for (uint i = lid; i < DIGITS; i += GROUP) bins[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    put_codes(keys, many, codes, base, span, shift, false, bins, found);
    barrier(CLK_LOCAL_MEM_FENCE);
    find_digit(bins, sums, k, found);
    base += found->digit << shift;
    span = (1u << shift) - 1;
    k -= found->before;
    inside = found->inside;
  }
  if (span == 0) return base;
  if (lid == 0) found->taken = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  put_codes(keys, many, codes, base, span, 0, true, bins, found);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid < inside) {
    const uint mine = bins[lid];
    uint before = 0;
    for (uint i = 0; i < inside; ++i) before += bins[i] < mine || (bins[i] == mine && i < lid);
    if (before == k - 1) found->code = base + mine;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return found->code;
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_tighten_bounds(
    global const Listed* restrict keys, Place keys_at, uint capacity, global const uint* restrict counts,
    Place counts_at, uint k, global uint* restrict lost, Place lost_at, uint dims,
    global const float* restrict row_terms, Place row_terms_at, global float* restrict threshold,
    Place threshold_at) {
  local uint bins[DIGITS], codes[CODES], sums[GROUP + GROUP / PART];
  local Found found;
  const ulong q = get_group_id(0);
  const bool first = get_local_id(0) == 0;
#ifdef SAMPLE
  const uint many = capacity;
#else
  const uint count = counts[counts_at.first + q * counts_at.stride], many = min(capacity, count);
  if (first && count > capacity) lost[lost_at.first + q * lost_at.stride] = 1;
#endif
  if (many < k) return;
  const uint code = kth_code(keys + keys_at.first + q * keys_at.stride, many, k, codes, bins, sums, &found);
  if (!first) return;
  threshold += threshold_at.first + q * threshold_at.stride;
  *threshold = threshold_by_bound(*threshold, value_of((Key)code << 32), dims,
                                  row_terms + row_terms_at.first + q, row_terms_at.stride);
}
