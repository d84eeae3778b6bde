// Blocks of columns as runs of keys: read, sorted eight at a time in registers, written.
//
// The list of a (query, group) is cut into `blocks` blocks of `size` places, a power of two from EACH
// on; places behind the last column hold NO_KEY. A work-group of GROUP items takes so many
// neighbouring blocks that every item has EACH keys; on CPU devices a lone item (GROUP 1) takes one
// block. EACH keys in registers are three steps of a sorting network, or a run to begin a merge with,
// without a barrier.
// No twin in kernels_cuda: runs are sorted by warps and blocks there, with network.cuh and sort.cuh.
#include "common/common.cl"

#define EACH 8

// Where key i of a run stands in local memory. Items that touch EACH neighbours each would meet in few
// of the banks; a gap behind every 16 keys sends them to different ones.
#if GROUP == 1
#define PLACE(i) (i)
#else
#define PLACE(i) ((i) + ((i) >> 4))
#endif

typedef struct {
  global const float* values;
  uint width;      // columns it has; 0: none, or no such block
  uint first_row;  // training row of the first
  ulong out;       // where the keys it leaves begin
  bool exists;
} Block;

// Block `job` of all, in the order of queries, groups and blocks, which leaves `keep` keys.
Block block_of(global const float* distances, ulong stride, uint columns, uint first_row, uint groups,
               ulong lists, ulong job, uint blocks, uint size, uint keep, ulong out_stride) {
  const ulong list = job / blocks, b = job % blocks, q = list / groups;
  const uint g = (uint)(list % groups);
  const ulong begin = first_column(g, columns, groups) + b * size;
  const uint end = first_column(g + 1, columns, groups);
  Block block;
  block.exists = list < lists;
  block.width = block.exists && begin < end ? (uint)min((ulong)size, end - begin) : 0;
  block.values = block.width > 0 ? distances + q * stride + begin : distances;
  block.first_row = first_row + (uint)begin;
  block.out = q * out_stride + (g * (ulong)blocks + b) * keep;
  return block;
}

Key key_at(const Block* block, uint place) {
  return place < block->width ? make_key(block->values[place], block->first_row + place) : NO_KEY;
}

// EACH keys of a block for item `item` of `items`: neighbouring items read neighbouring columns.
void load_keys(const Block* block, uint item, uint items, Key* keys) {
#pragma unroll
  for (uint r = 0; r < EACH; ++r) keys[r] = key_at(block, r * items + item);
}

// Batcher's odd-even merge sort of eight keys: 19 compare-exchanges.
void sort_each(Key* keys) {
  order_keys(keys, keys + 1), order_keys(keys + 2, keys + 3);
  order_keys(keys + 4, keys + 5), order_keys(keys + 6, keys + 7);
  order_keys(keys, keys + 2), order_keys(keys + 1, keys + 3);
  order_keys(keys + 4, keys + 6), order_keys(keys + 5, keys + 7);
  order_keys(keys + 1, keys + 2), order_keys(keys + 5, keys + 6);
  order_keys(keys, keys + 4), order_keys(keys + 1, keys + 5);
  order_keys(keys + 2, keys + 6), order_keys(keys + 3, keys + 7);
  order_keys(keys + 2, keys + 4), order_keys(keys + 3, keys + 5);
  order_keys(keys + 1, keys + 2), order_keys(keys + 3, keys + 4), order_keys(keys + 5, keys + 6);
}
