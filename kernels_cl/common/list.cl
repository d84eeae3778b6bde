// A list of the k smallest keys, which one work-item keeps in global memory. It is padded with NO_KEY from
// the start. Short lists are kept sorted: an insertion moves the keys behind it. Long lists are kept as a
// heap with the largest key on top, and sorted at the end (Williams, Floyd 1964).
// No twin in kernels_cuda: there a warp or a block keeps a list (shortlist.cuh); only in select_insertion.cu
// a thread does.
#include "common/common.cl"

#define SORTED_UP_TO 48  // longer lists are heaps

// Returns the key that a candidate must be smaller than.
Key list_bound(global const Key* list, uint k) {
  return list[k <= SORTED_UP_TO ? k - 1 : 0];
}

// Inserts `key` into an ascending list, and drops the last key.
void insert_sorted(global Key* list, uint k, Key key) {
  uint j = k - 1;
  for (; j > 0 && list[j - 1] > key; --j) list[j] = list[j - 1];
  list[j] = key;
}

// Puts `key` into a heap of `size` keys, at `hole` or below it.
void sift_down(global Key* heap, uint size, uint hole, Key key) {
  for (ulong child = 2ul * hole + 1; child < size; child = 2ul * hole + 1) {
    if (child + 1 < size && heap[child + 1] > heap[child]) ++child;
    if (heap[child] <= key) break;
    heap[hole] = heap[child];
    hole = (uint)child;
  }
  heap[hole] = key;
}

void list_start(global Key* list, uint k) {
  for (uint j = 0; j < k; ++j) list[j] = NO_KEY;
}

// Replaces the last key by `key`, which is smaller.
void list_take(global Key* list, uint k, Key key) {
  if (k <= SORTED_UP_TO)
    insert_sorted(list, k, key);
  else
    sift_down(list, k, 0, key);
}

// Makes the list ascending.
void list_finish(global Key* list, uint k) {
  if (k <= SORTED_UP_TO) return;
  for (uint size = k - 1; size > 0; --size) {
    const Key key = list[size];
    list[size] = list[0];
    sift_down(list, size, 0, key);
  }
}
