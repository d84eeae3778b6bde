// boxes: finds the k nearest of each query by a walk through boxes, near ones first (docs/boxes.md).
//
//   queries  [q, dims]                blocks of QUERY_BLOCK rows
//   order    [q]                      -D ORDERED: queries in an order in which successive ones are close
//   rows     [n, dims]                in the order of the boxes, in blocks of 32; each block is a leaf
//   numbers  [n]                      the training row in each place
//   bounds   [blocks, 2, dims, 32]    level by level, leaves first: the minima of 32 boxes, then their maxima
//   filter   [1 or q, words]          -D FILTERED: bit t % 32 of word t / 32 is 1 if training row t counts
//   within   [q]                      -D WITHIN: farther rows do not count
//   terms    [dims]                   -D TERMS: parameters of the columns, -D MIXED as in levels.cl
//   out      [q, k]                   ascending, padded with NO_KEY
//   leaves   [q]                      number of leaves read; above most_leaves: the query gave up
//
// A work-group of 32 items handles one query. For each level, each work-item keeps the bound of one of 32
// boxes and whether that box is still unvisited. The group goes down into the nearest unvisited box, and goes
// up when that box is farther than the k-th value so far. Bounds are compared without their last five bits,
// which hold the item's number. In a leaf, each work-item computes the chain of one row. The rows that pass
// are merged into the list by rank: the place of a row is the number of smaller keys, in the list and among
// those that passed. Local memory: 2 k keys, the query, 32 keys, and 32 numbers per level. Barriers: one for
// each box that is entered or left, and two to three per leaf.
// Work per leaf: 32 chains, and k + 32 comparisons for each row that passes. Source: Friedman, Bentley,
// Finkel, An algorithm for finding best matches in logarithmic expected time, 1977.
#include "boxes/levels.cl"

#define NOTHING 0xFFFFFFFFu
#define MOST_COLUMNS_OF_EARLY_NUMBERS 4

// Returns the chain of the gaps between the query and a box, which is at most the chain of any row inside.
//   box  minimum of the box in dimension 0; those of later dimensions follow, WIDTH apart
float gaps_of(local const float* query, global const float* box, uint dims, global const float* terms) {
  float acc = chain_start();
  for (uint d = 0; d < dims; ++d) {
    const float below = box[(size_t)d * WIDTH] - query[d], above = query[d] - box[(size_t)(dims + d) * WIDTH];
    float gap = fmax(fmax(below, above), 0.0f);
#ifdef TERMS
    gap = term_of(gap, fmax(-below, -above), terms[d]);
#endif
    acc = chain_next(acc, gap, 0.0f);
  }
  return acc;
}

// Merges the keys of a list and those that passed, by rank; the k smallest stay.
//   count  number of keys in `passed`, at most WIDTH
ALL_INLINE void join_passed(local const Key* list, uint k, local const Key* passed, uint count, uint lid,
                            local Key* joined) {
  for (uint i = lid; i < k; i += WIDTH) {  // keys of the list move up
    const Key known = list[i];
    uint to = i;
    for (uint j = 0; j < count; ++j) to += passed[j] < known;
    if (to < k) joined[to] = known;
  }
  if (lid >= count) return;
  const Key mine = passed[lid];
  uint to = 0, end = k;
  while (to < end) {
    const uint middle = to + (end - to) / 2;
    if (list[middle] < mine)
      to = middle + 1;
    else
      end = middle;
  }
  for (uint j = 0; j < count; ++j) to += passed[j] < mine;
  if (to < k) joined[to] = mine;
}

// The query of a work-group, and the largest value that its rows may have; they use variables of the kernel.
#ifdef ORDERED
#define QUERY_OF(group) order[shape.order_first + (group)]
#else
#define QUERY_OF(group) (group)
#endif
#ifdef WITHIN
#define LIMIT_OF(q) within[shape.within.first + (q)*shape.within.stride]
#else
#define LIMIT_OF(q) INFINITY
#endif

// This is BoxesShape in boxes.cpp of the back end.
typedef struct {
  Place bounds, filter, within, out, leaves;
  ulong order_first, numbers_first;
  uint q_first, n, dims, k, most_leaves;
} Shape;

kernel __attribute__((reqd_work_group_size(WIDTH, 1, 1))) void kith_boxes(
    global const float* restrict queries, global const uint* restrict order,
    global const float* restrict rows, global const uint* restrict numbers,
    global const float* restrict bounds, global const uint* restrict filter,
    global const float* restrict within, global const float* restrict terms, global Key* restrict out,
    global uint* restrict leaves, const Shape shape, local float* query, local Key* lists) {
  local float gaps[LEVELS][WIDTH];
  local Key passed[WIDTH];
  local uint many, least[3];  // three rounds use least[] in turn
  const uint lid = (uint)get_local_id(0), n = shape.n, dims = shape.dims, k = shape.k;
  const uint q = QUERY_OF((uint)get_group_id(0));
  const float limit = LIMIT_OF(q);
#ifdef FILTERED
  filter += shape.filter.first + q * shape.filter.stride;
#endif
  numbers += shape.numbers_first;
  bounds += shape.bounds.first;
  const uint packed = shape.q_first + q;
  for (uint d = lid; d < dims; d += WIDTH)
    query[d] = queries[((size_t)(packed / QUERY_BLOCK) * dims + d) * QUERY_BLOCK + packed % QUERY_BLOCK];
  local Key* list = lists;
  local Key* next = lists + k;
  for (uint i = lid; i < k; i += WIDTH) list[i] = NO_KEY;
  if (lid == 0) least[0] = NOTHING;
  barrier(CLK_LOCAL_MEM_FENCE);

  // With few columns, most leaves that are read have rows that pass, so that row numbers are read together
  // with the leaf instead of after it. With more columns, few leaves have such rows.
  const bool early = dims <= MOST_COLUMNS_OF_EARLY_NUMBERS;
  const Levels levels = levels_of(n);
  uint level = levels.top, read = 0, round = 0, blocks[LEVELS];
  uint left = 0;  // bit l: this item's box at level l is unvisited
  float most = limit;
  bool enters = true;
  blocks[level] = 0;
  while (true) {
    if (enters) {  // computes the bounds of the boxes of a block
      gaps[level][lid] = gaps_of(
          query, bounds + (levels.blocks[level] + blocks[level]) * shape.bounds.stride + lid, dims, terms);
      if (lid < levels.counts[level] - blocks[level] * WIDTH) left |= 1u << level;
      enters = false;
    }
    const uint now = round % 3;
    ++round;
    if (lid == 0) least[round % 3] = NOTHING;
    if ((left >> level & 1) && gaps[level][lid] <= most)
      atomic_min(&least[now], (as_uint(gaps[level][lid]) & ~(WIDTH - 1u)) | lid);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint chosen = least[now];
    if (chosen == NOTHING) {  // no unvisited box of this block can be near enough
      if (level == levels.top) break;
      left &= ~(1u << level);
      ++level;
      continue;
    }
    const uint nearest = chosen % WIDTH;
    if (lid == nearest) left &= ~(1u << level);
    const uint box = blocks[level] * WIDTH + nearest;
    if (level > 0) {
      --level;
      blocks[level] = box;
      enters = true;
      continue;
    }
    if (++read > shape.most_leaves) break;
    const uint place = box * WIDTH + lid;
    Key key = NO_KEY;
    if (lid == 0) many = 0;
    if (place < n) {
      uint row = 0;
      if (early) row = numbers[place];
      const float value = chain_of(query, rows + (size_t)box * dims * WIDTH + lid, dims, terms);
      if (value <= most) {
        if (!early) row = numbers[place];
#ifdef FILTERED
        if (filter[row / 32] >> row % 32 & 1)
#endif
          key = make_key(value, row);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (key < list[k - 1]) passed[atomic_inc(&many)] = key;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint count = many;
    if (count > 0) {
      join_passed(list, k, passed, count, lid, next);
      local Key* const before = list;
      list = next;
      next = before;
      barrier(CLK_LOCAL_MEM_FENCE);
      most = fmin(limit, value_of(list[k - 1]));
    }
  }
  out += shape.out.first + q * shape.out.stride;
  for (uint i = lid; i < k; i += WIDTH) out[i] = list[i];
  if (lid == 0) leaves[shape.leaves.first + q * shape.leaves.stride] = read;
}
