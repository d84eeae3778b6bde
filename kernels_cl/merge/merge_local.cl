// Merges pairs of runs in local memory.
// No twin in kernels_cuda: merge_runs.cu merges in shared memory, too.
#include "common/runs.cl"

// Returns how many of the first `take` keys of the merge of runs a and b, both of `run` keys, come from a.
//   a_begin, b_begin  where they begin in `keys`
// It uses merge path, like merge_path.cl.
uint from_first_local(local const Key* keys, uint a_begin, uint b_begin, uint run, uint take) {
  uint low = take - min(take, run), high = min(take, run);
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (keys[PLACE(a_begin + middle)] <= keys[PLACE(b_begin + take - 1 - middle)])
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Merges runs 0 and 1, 2 and 3, ... of `run` keys of from[0, total) into runs of twice the length. Each item
// writes EACH neighbouring keys of these; a single item writes whole runs. All items call this after a
// barrier; it ends with one.
void merge_round(local const Key* from, local Key* to, uint total, uint run) {
  const uint piece = GROUP == 1 ? 2 * run : EACH;
  for (uint o = (uint)get_local_id(0) * piece; o < total; o += GROUP * piece) {
    const uint a_begin = o / (2 * run) * (2 * run), b_begin = a_begin + run, take = o - a_begin;
    uint i = from_first_local(from, a_begin, b_begin, run, take), j = take - i;
    for (uint r = 0; r < piece; ++r) {
      const bool a_next = j >= run || (i < run && from[PLACE(a_begin + i)] <= from[PLACE(b_begin + j)]);
      to[PLACE(o + r)] = a_next ? from[PLACE(a_begin + i)] : from[PLACE(b_begin + j)];
      i += a_next;
      j += !a_next;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}
