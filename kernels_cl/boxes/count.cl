// count: counts the rows within bounds of each query by a walk through boxes (docs/boxes.md, section 3).
//
//   queries  [q, dims]                blocks of QUERY_BLOCK rows
//   order    [q]                      -D ORDERED: queries in an order in which successive ones are close
//   rows     [n, dims]                in the order of the boxes, in blocks of 32; each block is a leaf
//   numbers  [n]                      the training row in each place; read only for a filter
//   boxes    [blocks, 2, dims, 32]    level by level, leaves first: the minima of 32 boxes, then their maxima
//   bounds   [1 or q, r]              ascending
//   filter   [1 or q, words]          -D FILTERED: bit t % 32 of word t / 32 is 1 if training row t counts
//   terms    [dims]                   -D TERMS: parameters of the columns, -D MIXED as in levels.cl
//   counts   [q, r]
//   leaves   [q]                      number of leaves read
//
// A work-group of 32 items handles one query, and each item one of 32 boxes, or one row of a leaf. A box that
// is beyond all bounds is left out; a box within a bound counts whole, unless a filter says which of its rows
// count; the group goes into those that a bound cuts, of which it keeps a mask for each level. By one bound
// each item counts in a register. -D SEVERAL: local memory has the differences between the counts of
// neighbouring bounds, and for each box of a level which bounds cut it, as a number begin | end << 16.
// Local memory: the query and 4 numbers; by several bounds 2 r + 225 numbers more. A launch
// takes up to 256 bounds. Barriers: one for each box that is entered.
// Work: 64 chains for each block of boxes, 32 for each leaf that is read; by several bounds a binary search
// for each. Source: Bentley, Multidimensional binary search trees used for associative searching, 1975.
#include "boxes/levels.cl"

// Bounds of the chains of all rows in a box: from below, of its gaps, and from above, of its far sides.
typedef struct {
  float near, far;
} Reach;

//   box  minimum of the box in dimension 0; those of later dimensions follow, WIDTH apart
Reach reach_of(local const float* query, global const float* box, uint dims, global const float* terms) {
  Reach reach = {chain_start(), chain_start()};
  for (uint d = 0; d < dims; ++d) {
    const float below = box[(size_t)d * WIDTH] - query[d], above = query[d] - box[(size_t)(dims + d) * WIDTH];
    float near = fmax(fmax(below, above), 0.0f), far = fmax(-below, -above);
#ifdef TERMS
    const float gap = near;
    near = term_of(gap, far, terms[d]);
    far = term_of(far, gap, terms[d]);
#endif
    reach.near = chain_next(reach.near, near, 0.0f);
    reach.far = chain_next(reach.far, far, 0.0f);
  }
  return reach;
}

// Counts by the bounds of one query.
typedef struct {
  local const float* bounds;
  local uint* differences;  // [many + 1], modulo 2^32
  float bound;
  uint count;  // this item's, by one bound
} Tally;

// Returns the first of bounds begin ... end - 1 that is not below `value`; `end` if all are.
uint first_of(const Tally* tally, float value, uint begin, uint end) {
  while (begin < end) {
    const uint middle = begin + (end - begin) / 2;
    if (tally->bounds[middle] < value)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

// Returns those of some bounds that cut a box, 0 if none does. Counts its rows by bounds that have them all.
ALL_INLINE uint cut_box(Tally* tally, uint cutting, Reach reach, uint rows) {
#ifdef FILTERED
  const bool whole = false;
#else
  const bool whole = true;
#endif
#ifdef SEVERAL
  const uint begin = cutting & 0xFFFFu, end = cutting >> 16, from = first_of(tally, reach.near, begin, end),
             to = whole ? first_of(tally, reach.far, from, end) : end;
  if (to < end) {
    atomic_add(&tally->differences[to], rows);
    atomic_sub(&tally->differences[end], rows);
  }
  return from < to ? from | to << 16 : 0;
#else
  const bool within = whole && reach.far <= tally->bound;
  if (within) tally->count += rows;
  return reach.near <= tally->bound && !within ? cutting : 0;
#endif
}

ALL_INLINE void count_row(Tally* tally, uint cutting, float value) {
#ifdef SEVERAL
  const uint end = cutting >> 16, at = first_of(tally, value, cutting & 0xFFFFu, end);
  if (at >= end) return;
  atomic_inc(&tally->differences[at]);
  atomic_dec(&tally->differences[end]);
#else
  tally->count += value <= tally->bound;
#endif
}

// Returns how many rows a box has.
uint rows_of_box(uint n, uint level, uint box) {
  const uint shift = 5 * (level + 1);  // at most 30
  return min(1u << shift, n - (box << shift));
}

#ifdef ORDERED
#define QUERY_OF(group) order[shape.order_first + (group)]
#else
#define QUERY_OF(group) (group)
#endif
#ifdef SEVERAL
#define CUTTING(level, box) cutting[(level)*WIDTH + (box)]
#else
#define CUTTING(level, box) (1u << 16)
#endif

// This is CountShape in count.cpp of the back end.
typedef struct {
  Place boxes, bounds, filter, counts, leaves;
  ulong order_first, numbers_first;
  uint q_first, n, dims, many, adds;  // `adds`: `leaves` has what other bounds read
} Shape;

//   words  -D SEVERAL: [(LEVELS + 1) * WIDTH + 2 * many + 1]
kernel __attribute__((reqd_work_group_size(WIDTH, 1, 1))) void kith_count(
    global const float* restrict queries, global const uint* restrict order,
    global const float* restrict rows, global const uint* restrict numbers,
    global const float* restrict boxes, global const float* restrict bounds,
    global const uint* restrict filter, global const float* restrict terms, global uint* restrict counts,
    global uint* restrict leaves, const Shape shape, local float* query, local uint* words) {
  local uint masks[3], total;  // three rounds use masks[] in turn
  const uint lid = (uint)get_local_id(0), n = shape.n, dims = shape.dims, many = shape.many;
  const uint q = QUERY_OF((uint)get_group_id(0));
  const uint packed = shape.q_first + q;
  for (uint d = lid; d < dims; d += WIDTH)
    query[d] = queries[((size_t)(packed / QUERY_BLOCK) * dims + d) * QUERY_BLOCK + packed % QUERY_BLOCK];
  bounds += shape.bounds.first + q * shape.bounds.stride;
  counts += shape.counts.first + q * shape.counts.stride;
#ifdef FILTERED
  filter += shape.filter.first + q * shape.filter.stride;
#endif
  Tally tally = {0, 0, bounds[0], 0};
#ifdef SEVERAL
  local uint* const cutting = words;
  local float* const all_bounds = (local float*)(words + (LEVELS + 1) * WIDTH);
  tally.bounds = all_bounds;
  tally.differences = words + (LEVELS + 1) * WIDTH + many;
  for (uint r = lid; r < many; r += WIDTH) all_bounds[r] = bounds[r];
  for (uint r = lid; r <= many; r += WIDTH) tally.differences[r] = 0;
#endif
  if (lid == 0) masks[0] = total = 0;
  barrier(CLK_LOCAL_MEM_FENCE);

  const Levels levels = levels_of(n);
  uint left[LEVELS], blocks[LEVELS];
  uint level = levels.top, block = 0, read = 0, round = 0;
  uint of_block = many << 16;  // the bounds that cut what the block is in
  while (true) {
    const uint now = round % 3, box = block * WIDTH + lid;
    // Items may still read what cuts the leaves of the round before, so that leaves use two slots in turn.
    const uint slot = level == 0 && (round & 1) != 0 ? LEVELS : level;
    ++round;
    uint mine = 0;
    if (box < levels.counts[level])
      mine = cut_box(
          &tally, of_block,
          reach_of(query, boxes + (levels.blocks[level] + block) * shape.boxes.stride + lid, dims, terms),
          rows_of_box(n, level, box));
    if (lid == 0) masks[round % 3] = 0;
    if (mine != 0) atomic_or(&masks[now], 1u << lid);
#ifdef SEVERAL
    CUTTING(slot, lid) = mine;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    left[level] = masks[now];
    blocks[level] = block;
    if (level == 0) {
      for (; left[0] != 0; left[0] &= left[0] - 1) {
        const uint leaf = 31 - clz(left[0] & (0 - left[0])), place = (block * WIDTH + leaf) * WIDTH + lid;
        ++read;
        if (place >= n) continue;
#ifdef FILTERED
        const uint row = numbers[shape.numbers_first + place];
        if (!(filter[row / 32] >> row % 32 & 1)) continue;
#endif
        count_row(&tally, CUTTING(slot, leaf),
                  chain_of(query, rows + (size_t)(place / WIDTH) * dims * WIDTH + lid, dims, terms));
      }
    }
    while (level <= levels.top && left[level] == 0) ++level;
    if (level > levels.top) break;
    const uint next = 31 - clz(left[level] & (0 - left[level]));
    left[level] &= left[level] - 1;
    of_block = CUTTING(level, next);
    block = blocks[level] * WIDTH + next;
    --level;
  }
#ifdef SEVERAL
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid != 0) return;
  for (uint r = 0, sum = 0; r < many; ++r) counts[r] = sum += tally.differences[r];
#else
  atomic_add(&total, tally.count);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid != 0) return;
  counts[0] = total;
#endif
  leaves += shape.leaves.first + q * shape.leaves.stride;
  *leaves = shape.adds ? *leaves + read : read;
}
