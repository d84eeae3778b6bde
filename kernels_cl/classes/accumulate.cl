// accumulate: computes the smallest distance, and the sum of distances, of each query to each class. Sums are
// pairs of floats.
//
//   distances       [q, t]         row-major, stride in elements
//   labels          [1, t]         class of each column
//   smallest        [q, classes]   in and out, stride in elements
//   high, low       [q, classes]   in and out: high + low is the sum
//
// Each work-item adds the columns of one query in ascending order, as kith/spi.hpp requires. The values of
// the current class stay in registers, and are swapped only when the class changes: seldom, if columns are
// sorted by class; but any order is right. Source: the mean distances of the KNN-Classifier
// (docs/methods.md); TwoSum (Knuth).
#include "common/common.cl"

// The running values of a class, for one query or for 16.
#ifdef LANES
#define VALUE float16
#else
#define VALUE float
#endif

typedef struct {
  VALUE smallest, high, low;
} Sums;

void add(Sums* sums, VALUE distance) {
  const VALUE x = distance == 0.0f ? (VALUE)(0.0f) : distance;  // -0 becomes +0
  const VALUE before = sums->high, sum = before + x, part = sum - before;
  const VALUE low = sums->low + ((before - (sum - part)) + (x - part));
  sums->smallest = x < sums->smallest ? x : sums->smallest;
  sums->low = isfinite(sum) ? low : sums->low;
  sums->high = sum;
}

#ifdef LANES

// For CPU devices: work-item i handles queries 16 i ... 16 i + 15, one per lane. Lanes behind the last query
// repeat it, and are not written. No barrier, no local memory. Work per column: ten vector instructions.
#define EACH_LANE for (uint i = 0; i < 16; ++i)

void take(Sums* sums, global const float* smallest, const ulong* s, global const float* high, const ulong* h,
          global const float* low, const ulong* l, uint c) {
  float a[16], b[16], d[16];
  EACH_LANE {
    a[i] = smallest[s[i] + c];
    b[i] = high[h[i] + c];
    d[i] = low[l[i] + c];
  }
  sums->smallest = vload16(0, a);
  sums->high = vload16(0, b);
  sums->low = vload16(0, d);
}

void put_back(const Sums* sums, global float* smallest, const ulong* s, global float* high, const ulong* h,
              global float* low, const ulong* l, uint c, uint lanes) {
  float a[16], b[16], d[16];
  vstore16(sums->smallest, 0, a);
  vstore16(sums->high, 0, b);
  vstore16(sums->low, 0, d);
  for (uint i = 0; i < lanes; ++i) {
    smallest[s[i] + c] = a[i];
    high[h[i] + c] = b[i];
    low[l[i] + c] = d[i];
  }
}

kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kith_accumulate_lanes(
    global const float* restrict distances, Place distances_at, uint rows, uint columns,
    global const uint* restrict labels, ulong labels_first, uint parts, global float* restrict smallest,
    Place smallest_at, global float* restrict high, Place high_at, global float* restrict low, Place low_at) {
  const uint q0 = (uint)get_global_id(0) * 16, lanes = min(16u, rows - q0);
  labels += labels_first;
  ulong at[16], s[16], h[16], l[16];
  EACH_LANE {
    const ulong q = q0 + min(i, lanes - 1);
    at[i] = distances_at.first + q * distances_at.stride;
    s[i] = smallest_at.first + q * smallest_at.stride;
    h[i] = high_at.first + q * high_at.stride;
    l[i] = low_at.first + q * low_at.stride;
  }
  uint current = NO_ROW;
  Sums sums;
  for (uint t = 0; t < columns; ++t) {
    const uint c = labels[t];
    if (c != current) {
      if (current != NO_ROW) put_back(&sums, smallest, s, high, h, low, l, current, lanes);
      take(&sums, smallest, s, high, h, low, l, c);
      current = c;
    }
    global const float* x = distances + t;
    add(&sums,
        (float16)(x[at[0]], x[at[1]], x[at[2]], x[at[3]], x[at[4]], x[at[5]], x[at[6]], x[at[7]], x[at[8]],
                  x[at[9]], x[at[10]], x[at[11]], x[at[12]], x[at[13]], x[at[14]], x[at[15]]));
  }
  put_back(&sums, smallest, s, high, h, low, l, current, lanes);
}

#else

// For GPUs: work-group (x, p) of GROUP items handles the queries from x * GROUP on, one per item, and the
// classes c with c % parts == p; because classes are divided, few queries still keep the device busy. It
// scans the labels of 1024 columns at once. Tiles of 32 columns that contain one of its classes pass through
// local memory, because reading is fast along columns and adding is fast along queries. The next tile is
// loaded while one is added. Local memory: GROUP * 33 floats and 32 words.
// Work: ten instructions for each column that counts, and two barriers for 32 of them.
#define COLUMNS 32
#define TILES 32
#define PITCH (COLUMNS + 1)
#define ROWS_AT_ONCE (GROUP / COLUMNS)

// Returns the first tile from i on that has a column that counts; TILES if there is none.
uint next_tile(local const uint* counts, uint i) {
  while (i < TILES && counts[i] == 0) ++i;
  return i;
}

// Loads the distances that item `lid` reads of a tile; 0 for those outside.
void fetch(global const float* distances, ulong stride, uint q0, uint rows, uint t0, uint columns, uint lid,
           float* next) {
  const uint t = t0 + lid % COLUMNS;
#pragma unroll
  for (uint i = 0; i < COLUMNS; ++i) {
    const uint q = q0 + i * ROWS_AT_ONCE + lid / COLUMNS;
    next[i] = q < rows && t < columns ? distances[q * stride + t] : 0.0f;
  }
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_accumulate(
    global const float* restrict distances, Place distances_at, uint rows, uint columns,
    global const uint* restrict labels, ulong labels_first, uint parts, global float* restrict smallest,
    Place smallest_at, global float* restrict high, Place high_at, global float* restrict low, Place low_at) {
  local float staged[GROUP * PITCH];
  local uint counts[TILES];  // bit j of word i: column j of tile i counts
  const uint lid = (uint)get_local_id(0), q0 = (uint)get_group_id(0) * GROUP, part = (uint)get_group_id(1);
  const ulong q = q0 + lid;
  const bool there = q < rows;
  distances += distances_at.first;
  labels += labels_first;
  smallest += smallest_at.first + q * smallest_at.stride;
  high += high_at.first + q * high_at.stride;
  low += low_at.first + q * low_at.stride;
  uint current = NO_ROW;
  Sums sums = {0.0f, 0.0f, 0.0f};

  for (uint s0 = 0; s0 < columns; s0 += TILES * COLUMNS) {
    const uint width = min((uint)(TILES * COLUMNS), columns - s0);
    if (lid < TILES) counts[lid] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = lid; j < width; j += GROUP)
      if (labels[s0 + j] % parts == part) atomic_or(counts + j / COLUMNS, 1u << j % COLUMNS);
    barrier(CLK_LOCAL_MEM_FENCE);
    float next[COLUMNS];
    uint i = next_tile(counts, 0);
    if (i < TILES) fetch(distances, distances_at.stride, q0, rows, s0 + i * COLUMNS, columns, lid, next);
    while (i < TILES) {
#pragma unroll
      for (uint r = 0; r < COLUMNS; ++r)
        staged[(r * ROWS_AT_ONCE + lid / COLUMNS) * PITCH + lid % COLUMNS] = next[r];
      barrier(CLK_LOCAL_MEM_FENCE);
      const uint t0 = s0 + i * COLUMNS, wanted = counts[i];
      i = next_tile(counts, i + 1);
      if (i < TILES) fetch(distances, distances_at.stride, q0, rows, s0 + i * COLUMNS, columns, lid, next);
      for (uint j = 0; j < COLUMNS; ++j) {
        if (!there || (wanted >> j & 1) == 0) continue;
        const uint c = labels[t0 + j];
        if (c != current) {
          if (current != NO_ROW) {
            smallest[current] = sums.smallest;
            high[current] = sums.high;
            low[current] = sums.low;
          }
          sums.smallest = smallest[c];
          sums.high = high[c];
          sums.low = low[c];
          current = c;
        }
        add(&sums, staged[lid * PITCH + j]);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (current == NO_ROW) return;
  smallest[current] = sums.smallest;
  high[current] = sums.high;
  low[current] = sums.low;
}

#endif
