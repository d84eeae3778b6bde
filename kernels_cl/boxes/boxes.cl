// boxes: the k nearest of each query by a walk through boxes, nearest first (docs/boxes.md).
//
//   queries  [q, dims]                blocks of QUERY_BLOCK rows
//   order    [q]                      -D ORDERED: queries in an order in which neighbours follow each other
//   rows     [n, dims]                in their places, blocks of 32: a block is a leaf
//   numbers  [n]                      the training row in each place
//   bounds   [blocks, 2, dims, 32]    level by level, the leaves first: 32 boxes, their least, their largest
//   filter   [1 or q, words]          -D FILTERED: bit t % 32 of word t / 32 is 1 where training row t counts
//   within   [q]                      -D WITHIN: rows beyond do not count
//   out      [q, k]                   ascending, padded with NO_KEY
//   leaves   [q]                      leaves read; above most_leaves: the query gave up
//
// A work-group of 32 takes a query. Of each level it is at a work-item keeps the bound of one of 32 boxes,
// and whether it is left. The group goes down into the nearest (but for the last five bits of the bound, in
// whose place the item's number stands), and up where the nearest that is left is beyond the k-th value so
// far. Of a leaf each work-item accumulates a row. The rows that pass join the list by rank: a row's place is
// how many keys are smaller, in the list and among those that pass. Local memory: 2 k keys, the query, 32
// keys and 32 numbers a level. Barriers: one for each box that is gone into or out of, and two to three a
// leaf. Work a leaf: 32 chains, and for those that pass k + 32 comparisons of each. Source: Friedman,
// Bentley, Finkel, An algorithm for finding best matches in logarithmic expected time, 1977.
#include "common/metric.cl"
#include "kith/spi/kernel_limits.def"

#define WIDTH KITH_BOX_ROWS
#define LEVELS KITH_MOST_BOX_LEVELS
#define NOTHING 0xFFFFFFFFu
#define MOST_COLUMNS_OF_EARLY_NUMBERS 4

// Where the levels lie, and how many boxes they have.
typedef struct {
  uint top;
  uint counts[LEVELS];
  ulong blocks[LEVELS];  // before the first
} Levels;

Levels levels_of(uint n) {
  Levels levels;
  ulong blocks = 0, count = ((ulong)n + WIDTH - 1) / WIDTH;
  for (uint l = 0; l < LEVELS; ++l) {
    levels.counts[l] = (uint)count;
    levels.blocks[l] = blocks;
    levels.top = l;
    if (count <= WIDTH) break;
    count = (count + WIDTH - 1) / WIDTH;
    blocks += count;
  }
  return levels;
}

// Returns the chain of the gaps between the query and a box, which is at most the chain of each row inside.
//   box  its least of dimension 0; the next dimension is WIDTH further
float gaps_of(local const float* query, global const float* box, uint dims) {
  float acc = chain_start();
  for (uint d = 0; d < dims; ++d) {
    const float below = box[(size_t)d * WIDTH] - query[d], above = query[d] - box[(size_t)(dims + d) * WIDTH];
    acc = chain_next(acc, fmax(fmax(below, above), 0.0f), 0.0f);
  }
  return acc;
}

float chain_of(local const float* query, global const float* row, uint dims) {
  float acc = chain_start();
  for (uint d = 0; d < dims; ++d) acc = chain_next(acc, query[d], row[(size_t)d * WIDTH]);
  return acc;
}

// The k smallest of the keys of a list and of those that passed, by rank.
//   count  keys in `passed`, at most WIDTH
ALL_INLINE void join_passed(local const Key* list, uint k, local const Key* passed, uint count, uint lid,
                            local Key* joined) {
  for (uint i = lid; i < k; i += WIDTH) {  // those of the list move up
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

// The query of a work-group, and what its rows may reach, with the names of the kernel.
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

// BoxesShape in boxes.cpp of the back end.
typedef struct {
  Place bounds, filter, within, out, leaves;
  ulong order_first, numbers_first;
  uint q_first, n, dims, k, most_leaves;
} Shape;

kernel __attribute__((reqd_work_group_size(WIDTH, 1, 1))) void kith_boxes(
    global const float* restrict queries, global const uint* restrict order,
    global const float* restrict rows, global const uint* restrict numbers,
    global const float* restrict bounds, global const uint* restrict filter,
    global const float* restrict within, global Key* restrict out, global uint* restrict leaves,
    const Shape shape, local float* query, local Key* lists) {
  local float gaps[LEVELS][WIDTH];
  local Key passed[WIDTH];
  local uint many, least[3];  // of three rounds in turn
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

  // Of few columns most leaves that are read have rows that pass: their numbers
  // are read beside them, not after them. Of more columns few have.
  const bool early = dims <= MOST_COLUMNS_OF_EARLY_NUMBERS;
  const Levels levels = levels_of(n);
  uint level = levels.top, read = 0, round = 0, blocks[LEVELS];
  uint left = 0;  // bit l: this item's box of level l
  float most = limit;
  bool enters = true;
  blocks[level] = 0;
  while (true) {
    if (enters) {  // the boxes of a block
      gaps[level][lid] =
          gaps_of(query, bounds + (levels.blocks[level] + blocks[level]) * shape.bounds.stride + lid, dims);
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
    if (chosen == NOTHING) {  // nothing that is left here can be near enough
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
    // A leaf.
    const uint place = box * WIDTH + lid;
    Key key = NO_KEY;
    if (lid == 0) many = 0;
    if (place < n) {
      uint row = 0;
      if (early) row = numbers[place];
      const float value = chain_of(query, rows + (size_t)box * dims * WIDTH + lid, dims);
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
