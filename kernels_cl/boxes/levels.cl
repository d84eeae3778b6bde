// The levels of boxes, as kernels that walk through boxes take them (docs/boxes.md, section 2), and the
// chains of rows in a leaf. A work-group of WIDTH items handles one query.
//
//   terms  [dims]  -D TERMS: parameters of the columns (metrics.def); -D MIXED: others than periodic, too
#include "common/metric.cl"
#include "kith/spi/kernel_limits.def"

#define WIDTH KITH_BOX_ROWS
#define LEVELS KITH_MOST_BOX_LEVELS

// The place of each level in `bounds`, and its number of boxes.
typedef struct {
  uint top;
  uint counts[LEVELS];
  ulong blocks[LEVELS];  // number of blocks before the first of the level
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

float chain_of(local const float* query, global const float* row, uint dims, global const float* terms) {
  float acc = chain_start();
  for (uint d = 0; d < dims; ++d)
#ifdef TERMS
    acc = chain_next(acc, pair_term(query[d], row[(size_t)d * WIDTH], terms[d]), 0.0f);
#else
    acc = chain_next(acc, query[d], row[(size_t)d * WIDTH]);
#endif
  return acc;
}
