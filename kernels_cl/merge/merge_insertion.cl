// merge for few keys and for CPU devices; its arguments are those of merge.cl.
// No twin in kernels_cuda: merge.cu has one block per row for few keys, too.
#include "common/list.cl"

// Work-item q inserts the keys of all lists; it leaves each list at the first key that is too large.
kernel void kith_merge_insertion(global const Key* restrict in, Place in_at, uint rows, uint lists, uint k,
                                 global Key* restrict out, Place out_at) {
  const ulong q = get_global_id(0);
  if (q >= rows) return;
  global Key* best = out + out_at.first + q * out_at.stride;
  list_start(best, k);
  for (uint g = 0; g < lists; ++g) {
    global const Key* list = in + in_at.first + q * in_at.stride + (ulong)g * k;
    for (uint j = 0; j < k && list[j] < best[k - 1]; ++j) insert_sorted(best, k, list[j]);
  }
}
