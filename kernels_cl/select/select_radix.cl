// select, radix: finds the k-th key digit by digit, gathers the keys up to it, and sorts these.
//
//   distances [q, t]            row-major, stride in elements, NaN only if masked
//   out       [q, lists * k]    keys; kith_sort_runs and then kith_merge_runs (merge_runs.cl) sort them
//
// It works for any k up to t. GPUs sort lists of 8,192 to 262,144 values by one partition instead
// (sample_sort.cl), unless there are at least 64, of which at most a quarter is wanted. If no list has more
// than k columns, no key has to be found, and kith_select_radix_all takes every column: an item for each.
// Work: usually 3 or 4 passes over a list's distances to find the key, at most 8, and one to gather; then
// run log2(run) (log2(run) + 1) / 4 compare-exchanges for each run of the k keys, and log2(k / run) merges.
// Source: radix selection as in Alabi, Blanchard, Gordon, Steinbach 2012; early end as in Zhang, Naruse, Li,
// Wang, Parallel Top-K Algorithms on GPU (AIR), 2023.
#include "common/sort.cl"

#define DIGIT_BITS 8
#define DIGITS 256

#if GROUP == 1  // on a CPU device no other item shares the counter, and an atomic would cost 20 cycles
#define take_ticket(counter, count) ((*(counter) += (count)) - (count))
#else
#define take_ticket(counter, count) atomic_add((counter), (count))
#endif

// Writes the keys of all columns. Work-item (j, g, q) handles column j of list g.
kernel void kith_select_radix_all(global const float* restrict distances, Place distances_at, uint columns,
                                  uint first_row, uint k, uint lists, global Key* restrict out,
                                  Place out_at) {
  const uint j = (uint)get_global_id(0), g = (uint)get_global_id(1);
  const ulong q = get_global_id(2);
  if (j >= k) return;
  const ulong t = (ulong)first_column(g, columns, lists) + j;
  out[out_at.first + q * out_at.stride + (ulong)g * k + j] =
      t < first_column(g + 1, columns, lists)
          ? make_key(distances[distances_at.first + q * distances_at.stride + t], first_row + (uint)t)
          : NO_KEY;
}

// Counts the digits at `shift` of the keys whose digits above it are `prefix`. Successive keys with the same
// digit are counted before they are added to a bin, because distances often have the same first digit.
void count_digits(global const float* row, uint begin, uint end, uint first_row, uint shift, Key prefix,
                  local uint* bins) {
  uint bin = 0, run = 0;
  for (uint t = begin + (uint)get_local_id(0); t < end; t += GROUP) {
    const Key key = make_key(row[t], first_row + t);
    if (shift + DIGIT_BITS < 64 && key >> (shift + DIGIT_BITS) != prefix) continue;
    const uint digit = (uint)(key >> shift) % DIGITS;
    if (digit != bin) {
      if (run > 0) take_ticket(bins + bin, run);
      bin = digit;
      run = 0;
    }
    ++run;
  }
  if (run > 0) take_ticket(bins + bin, run);
}

// Writes the k smallest keys of each group, in any order. Work-group (g, q) of GROUP items makes up to 8
// passes over its part of row q, usually 3 or 4, with three barriers each, and one pass to gather. Local
// memory: 256 counters.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_select_radix(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint k,
    uint lists, global Key* restrict out, Place out_at) {
  local uint bins[DIGITS];
  local uint found[3];  // digit; number of keys still wanted; whether this is all keys of that bin
  local uint taken;
  const uint lid = (uint)get_local_id(0), g = (uint)get_group_id(0);
  const ulong q = get_group_id(1);
  const uint begin = first_column(g, columns, lists), end = first_column(g + 1, columns, lists);
  global const float* row = distances + distances_at.first + q * distances_at.stride;
  global Key* list = out + out_at.first + q * out_at.stride + (ulong)g * k;

  Key last = NO_KEY;  // the k-th key, or a number between it and the next
  if (end - begin > k) {
    Key prefix = 0;
    uint wanted = k;
    bool ends = false;
    for (uint shift = 64 - DIGIT_BITS; !ends; shift -= DIGIT_BITS) {
      for (uint i = lid; i < DIGITS; i += GROUP) bins[i] = 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      count_digits(row, begin, end, first_row, shift, prefix, bins);
      barrier(CLK_LOCAL_MEM_FENCE);
      if (lid == 0) {
        uint digit = 0, left = wanted;
        while (bins[digit] < left) left -= bins[digit++];
        found[0] = digit;
        found[1] = left;
        found[2] = bins[digit] == left;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      prefix = prefix << DIGIT_BITS | found[0];
      wanted = found[1];
      ends = found[2] || shift == 0;
      last = shift == 0 ? prefix : (prefix << shift) | ((1ul << shift) - 1);
    }
  }

  if (lid == 0) taken = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint t = begin + lid; t < end; t += GROUP) {
    const Key key = make_key(row[t], first_row + t);
    if (key <= last) list[take_ticket(&taken, 1)] = key;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint j = taken + lid; j < k; j += GROUP) list[j] = NO_KEY;
}

// Sorts runs of `run` keys, a power of two, of each list of k keys; the last run may be short. Work-group (r,
// g, q) of GROUP items sorts run r of list (q, g) in local memory, and writes it back.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_sort_runs(global Key* lists, Place at,
                                                                              uint k, uint run,
                                                                              local Key* keys) {
  const uint lid = (uint)get_local_id(0);
  const ulong begin = (ulong)get_group_id(0) * run;
  const uint size = (uint)min((ulong)run, k - begin);
  global Key* list = lists + at.first + get_group_id(2) * at.stride + get_group_id(1) * (ulong)k + begin;
  const uint width = power_of_two(size);
  for (uint i = lid; i < width; i += GROUP) keys[i] = i < size ? list[i] : NO_KEY;
  sort_runs(keys, width, width);
  for (uint i = lid; i < size; i += GROUP) list[i] = keys[i];
}
