// A list of the k smallest keys that one work-item keeps, in global memory, padded with NO_KEY
// from the start. Short lists are kept sorted, and an insertion moves what is behind it; long ones
// are kept as a heap with the largest on top, and sorted at the end (Williams, Floyd 1964).
// No twin in kernels_cuda: a warp or a block keeps a list there (shortlist.cuh), one thread only in
// select_insertion.cu.
#include "common/common.cl"

#define SORTED_UP_TO 48  // longer lists are heaps

// The key that a candidate must be smaller than.
Key list_bound(global const Key* list, uint k) {
  return list[k <= SORTED_UP_TO ? k - 1 : 0];
}

// Put `key` in its place in an ascending list and drop the last.
void insert_sorted(global Key* list, uint k, Key key) {
  uint j = k - 1;
  for (; j > 0 && list[j - 1] > key; --j) list[j] = list[j - 1];
  list[j] = key;
}

// Put `key` into a heap of `size` at `hole` or below it.
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

// Replace the last by `key`, which is smaller.
void list_take(global Key* list, uint k, Key key) {
  if (k <= SORTED_UP_TO)
    insert_sorted(list, k, key);
  else
    sift_down(list, k, 0, key);
}

// Leave the list ascending.
void list_finish(global Key* list, uint k) {
  if (k <= SORTED_UP_TO) return;
  for (uint size = k - 1; size > 0; --size) {
    const Key key = list[size];
    list[size] = list[0];
    sift_down(list, size, 0, key);
  }
}
