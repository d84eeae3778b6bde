// The bitonic sorting network, three steps at a time.
//
// A step compares keys that are `span` apart. An item takes the EACH keys that three successive steps
// compare with each other, and does the three steps in registers, so that these cost one barrier, one read
// and one write. In the first step of a level of `width` keys, key i is compared with its mirror image width
// - 1 - i, so that all comparisons have the same direction. Source: Batcher, Sorting networks and their
// applications, 1968.
#include "common/runs.cl"

// Does the last `steps` of the steps of span 4, 2, 1 on eight keys. If `mirrored`, the first one is mirrored.
void order_each(Key* keys, uint steps, bool mirrored) {
  if (mirrored) {
    order_keys(keys, keys + 7), order_keys(keys + 1, keys + 6);
    order_keys(keys + 2, keys + 5), order_keys(keys + 3, keys + 4);
  } else if (steps == 3) {
    order_keys(keys, keys + 4), order_keys(keys + 1, keys + 5);
    order_keys(keys + 2, keys + 6), order_keys(keys + 3, keys + 7);
  }
  if (steps >= 2) {
    order_keys(keys, keys + 2), order_keys(keys + 1, keys + 3);
    order_keys(keys + 4, keys + 6), order_keys(keys + 5, keys + 7);
  }
  order_keys(keys, keys + 1), order_keys(keys + 2, keys + 3);
  order_keys(keys + 4, keys + 5), order_keys(keys + 6, keys + 7);
}

// The eight keys of item `i` are `stride` apart, a power of two. In a mirrored pass the upper four are the
// mirror images of the lower four.
#define NETWORK_PASS(name, space, Index, PLACE_OF)                                     \
  void name(space Key* keys, Index i, Index stride, uint steps, bool mirrored) {       \
    const Index lower = i & (stride - 1), begin = (i - lower) * EACH;                  \
    const Index upper = mirrored ? stride - 1 - lower : lower;                         \
    Key each[EACH];                                                                    \
    _Pragma("unroll") for (uint r = 0; r < EACH; ++r) each[r] =                        \
        keys[PLACE_OF(begin + (r < EACH / 2 ? lower : upper) + r * stride)];           \
    order_each(each, steps, mirrored);                                                 \
    _Pragma("unroll") for (uint r = 0; r < EACH; ++r)                                  \
        keys[PLACE_OF(begin + (r < EACH / 2 ? lower : upper) + r * stride)] = each[r]; \
  }
#define AS_IT_IS(i) (i)
NETWORK_PASS(pass_in_local, local, uint, PLACE)
NETWORK_PASS(pass_in_global, global, ulong, AS_IT_IS)

// Does the steps of span / 2, span / 4, ..., 1 on EACH * items keys. All items call this; it ends with
// a barrier.
void clean_run(local Key* keys, uint items, uint span) {
  while (span > 1) {
    const uint stride = span >= EACH ? span / EACH : 1, steps = span >= EACH ? 3 : span / 2;
    for (uint i = (uint)get_local_id(0); i < items; i += GROUP) pass_in_local(keys, i, stride, steps, false);
    barrier(CLK_LOCAL_MEM_FENCE);
    span = stride;
  }
}

// Sorts runs of `size` keys; each EACH keys are already sorted. All items call this after a barrier; it ends
// with one.
void sort_run(local Key* keys, uint items, uint size) {
  for (uint width = 2 * EACH; width <= size; width *= 2) {
    for (uint i = (uint)get_local_id(0); i < items; i += GROUP) pass_in_local(keys, i, width / EACH, 3, true);
    barrier(CLK_LOCAL_MEM_FENCE);
    clean_run(keys, items, width / EACH);
  }
}

// Sorts the blocks of work-group get_group_id(0), and writes the first `keep` keys of each.
void sort_blocks(global const float* distances, ulong stride, uint columns, uint first_row, uint lists,
                 ulong all_lists, uint blocks, uint size, uint keep, global Key* out, ulong out_stride,
                 local Key* keys) {
  const uint items = GROUP == 1 ? size / EACH : GROUP, a_block = size / EACH;
  const ulong first_job = get_group_id(0) * (ulong)(items / a_block);
  for (uint i = (uint)get_local_id(0); i < items; i += GROUP) {
    const Block block = block_of(distances, stride, columns, first_row, lists, all_lists,
                                 first_job + i / a_block, blocks, size, keep, out_stride);
    Key each[EACH];
    load_keys(&block, i % a_block, a_block, each);
    sort_each(each);
#pragma unroll
    for (uint r = 0; r < EACH; ++r) keys[PLACE(i * EACH + r)] = each[r];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  sort_run(keys, items, size);
  for (uint i = (uint)get_local_id(0); i < items; i += GROUP) {
    const Block block = block_of(distances, stride, columns, first_row, lists, all_lists,
                                 first_job + i / a_block, blocks, size, keep, out_stride);
    if (!block.exists) continue;
    for (uint j = i % a_block; j < keep; j += a_block)
      out[block.out + j] = keys[PLACE(i / a_block * size + j)];
  }
}
