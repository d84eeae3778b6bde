// Finds which list the first keys of the merge of two ascending lists come from.
// Source: Odeh, Green, Mwassi, Shmueli, Birk, Merge Path, 2012.
#include "common/common.cl"

// Returns how many of the first `take` keys of the merge of a and b come from a.
uint from_first(global const Key* a, uint a_size, global const Key* b, uint b_size, uint take) {
  uint low = take - min(take, b_size), high = min(take, a_size);
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (a[middle] <= b[take - 1 - middle])
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
