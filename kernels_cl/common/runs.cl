// Reads blocks of columns as runs of keys, sorts eight keys at a time in registers, and writes them.
//
// The columns of each list are cut into `blocks` blocks of `size` places; size is a power of two, at least
// EACH. Places behind the last column hold NO_KEY. A work-group of GROUP items handles as many neighbouring
// blocks as give every item EACH keys; on CPU devices a single item (GROUP 1) handles one block. EACH keys in
// registers allow three steps of a sorting network, or are a run to begin a merge with, without a barrier.
// No twin in kernels_cuda: there warps and blocks sort runs, with network.cuh and sort.cuh.
#include "common/common.cl"

#define EACH 8

// The place of key i of a run in local memory. Items that each access EACH neighbouring keys would use few of
// the banks; a gap after every 16 keys spreads them.
#if GROUP == 1
#define PLACE(i) (i)
#else
#define PLACE(i) ((i) + ((i) >> 4))
#endif

typedef struct {
  global const float* values;
  uint width;      // number of its columns; 0: none, or no such block
  uint first_row;  // training row of the first column
  ulong out;       // where its output begins
  bool exists;
} Block;

// Returns block `job`, in the order of queries, lists and blocks. It writes `keep` keys.
Block block_of(global const float* distances, ulong stride, uint columns, uint first_row, uint lists,
               ulong all_lists, ulong job, uint blocks, uint size, uint keep, ulong out_stride) {
  const ulong list = job / blocks, b = job % blocks, q = list / lists;
  const uint g = (uint)(list % lists);
  const ulong begin = first_column(g, columns, lists) + b * size;
  const uint end = first_column(g + 1, columns, lists);
  Block block;
  block.exists = list < all_lists;
  block.width = block.exists && begin < end ? (uint)min((ulong)size, end - begin) : 0;
  block.values = block.width > 0 ? distances + q * stride + begin : distances;
  block.first_row = first_row + (uint)begin;
  block.out = q * out_stride + (g * (ulong)blocks + b) * keep;
  return block;
}

Key key_at(const Block* block, uint place) {
  return place < block->width ? make_key(block->values[place], block->first_row + place) : NO_KEY;
}

// Loads EACH keys of a block for item `item` of `items`; neighbouring items read neighbouring columns.
void load_keys(const Block* block, uint item, uint items, Key* keys) {
#pragma unroll
  for (uint r = 0; r < EACH; ++r) keys[r] = key_at(block, r * items + item);
}

// Sorts eight keys by Batcher's odd-even merge sort: 19 compare-exchanges.
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
