// land: converts rows of the caller into rows of float32 in blocks.
//
//   from     [rows, cols]    of ELEMENT, at any address; stride in bytes
//   columns  [dims]          the columns that count; with -D COLUMNS
//   chosen   [rows]          the rows of the caller that are landed; with -D CHOSEN
//   out      [blocks, dims, BLOCK]  transposed, from block 0 of the step on; the last block is padded with 0
//   found    [3]             the largest |value| as bits, the first row that holds a NaN or an infinity, and
//                            1 if a value is not on the grid; the latter with -D ON_GRID
//
// Values are handled as bits, so that no float arithmetic changes or flushes one. -D ALIGNED says that every
// element is aligned to its size. A column of `bits` is a word of 32 bits.
//
// On GPUs a work-group of 256 items passes 32 columns of a block of 32 rows through local memory, so that it
// reads and writes whole lines. On CPU devices a work-item handles a block.
// Work: each element is read once and written once. Three barriers. Local memory: 4.2 KiB.
#include "common/common.cl"

#define F32 0  // numbered as Element of rows_view.hpp
#define F16 1
#define BF16 2
#define U8 3
#define I8 4
#define BITS 5

#define INFINITY_BITS 0x7F800000u
#define MAGNITUDE_BITS 0x7FFFFFFFu

uint half_word(global const uchar* row, uint d) {
#ifdef ALIGNED
  return ((global const ushort*)row)[d];
#else
  return row[2 * (size_t)d] | (uint)row[2 * (size_t)d + 1] << 8;
#endif
}

#if ELEMENT == F16
// Converts a half to a float, both as bits. A half below 2^-14 is a whole multiple of 2^-24.
uint float_of_half(uint half_bits) {
  const uint sign = (half_bits & 0x8000u) << 16, exponent = half_bits >> 10 & 0x1Fu,
             fraction = half_bits & 0x3FFu;
  if (exponent == 0) return sign | as_uint((float)fraction * 0x1p-24f);
  return sign | (exponent == 0x1Fu ? 0xFFu : exponent + 112) << 23 | fraction << 13;
}
#endif

// Returns column d of a row, as the bits of a float.
uint landed(global const uchar* row, uint d, uint cols) {
#if ELEMENT == F32
#ifdef ALIGNED
  return ((global const uint*)row)[d];
#else
  row += 4 * (size_t)d;
  return row[0] | (uint)row[1] << 8 | (uint)row[2] << 16 | (uint)row[3] << 24;
#endif
#elif ELEMENT == F16
  return float_of_half(half_word(row, d));
#elif ELEMENT == BF16
  return half_word(row, d) << 16;
#elif ELEMENT == U8
  return as_uint((float)row[d]);
#elif ELEMENT == I8
  return as_uint((float)((global const char*)row)[d]);
#else
  uint word = 0;
  for (uint i = 0; i < 4; ++i) {
    const size_t byte = 4 * (size_t)d + i;
    if (byte * 8 >= cols) break;
    const uint left = cols - (uint)byte * 8;
    word |= (row[byte] & (left < 8 ? 0xFFu << (8 - left) & 0xFFu : 0xFFu)) << 8 * i;
  }
  return word;
#endif
}

// Does what lies_on() of rows/landed/byte_grid.cpp does. -128 and 127 are the least and the most on a grid.
bool lies_off(float value, float centre, float step, float scale) {
  const float i = ((value - centre) * scale + 0x1.8p23f) - 0x1.8p23f;
  return !(centre + i * step == value) || !(i >= -128) || !(i <= 127);
}

#ifdef ON_GRID
#define IS_OFF(value) lies_off(as_float(value), grid_centre, grid_step, grid_scale)
#else
#define IS_OFF(value) false
#endif

#ifdef COLUMNS
#define COLUMN(d) columns[columns_first + (d)]
#else
#define COLUMN(d) (d)
#endif

#ifdef CHOSEN
#define NUMBER(r) chosen[chosen_first + (r)]
#else
#define NUMBER(r) (uint)(r)
#endif

#define ARGUMENTS                                                                                    \
  global const uchar *restrict from, ulong first, ulong stride, uint rows, uint cols,                \
      global const uint *restrict columns, ulong columns_first, global const uint *restrict chosen,  \
      ulong chosen_first, global uint *restrict out, ulong out_first, uint dims, global uint *found, \
      ulong found_first, uint first_row, float grid_centre, float grid_step, float grid_scale

#if GROUP > 1

#define TILE 32
#define PASSES (TILE * TILE / GROUP)

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_land(ARGUMENTS) {
  local uint tile[TILE][TILE + 1];
  local uint seen[3];
  const uint lid = (uint)get_local_id(0), lane = lid % TILE;
  const uint tiles = (dims + TILE - 1) / TILE;
  const size_t block = get_group_id(0) / tiles;
  const uint d0 = (uint)(get_group_id(0) % tiles) * TILE;
  if (lid == 0) {
    seen[0] = 0;
    seen[1] = NO_ROW;
    seen[2] = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  uint largest = 0, bad = NO_ROW;
  bool off = false;
  for (uint i = 0; i < PASSES; ++i) {
    const uint b = lid / TILE + i * (GROUP / TILE), d = d0 + lane;
    const size_t r = block * BLOCK + b;
    uint value = 0, number = 0;
    if (r < rows && d < dims) {
      number = NUMBER(r);
      value = landed(from + first + number * stride, COLUMN(d), cols);
      if (IS_OFF(value)) off = true;
    }
    tile[b][lane] = value;
    largest = max(largest, value & MAGNITUDE_BITS);
    if ((value & MAGNITUDE_BITS) >= INFINITY_BITS) bad = min(bad, first_row + number);
  }
#if ELEMENT != BITS
  atomic_max(&seen[0], largest);
  if (bad != NO_ROW) atomic_min(&seen[1], bad);
  if (off) atomic_max(&seen[2], 1u);
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
  out += out_first + block * dims * BLOCK;
  for (uint i = 0; i < PASSES; ++i) {
    const uint d = d0 + lid / TILE + i * (GROUP / TILE);
    if (d < dims) out[(size_t)d * BLOCK + lane] = tile[lane][d - d0];
  }
  if (lid == 0 && seen[0] > 0) atomic_max(found + found_first, seen[0]);
  if (lid == 0 && seen[1] != NO_ROW) atomic_min(found + found_first + 1, seen[1]);
  if (lid == 0 && seen[2] != 0) atomic_max(found + found_first + 2, 1u);
}

#else

kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kith_land(ARGUMENTS) {
  const size_t block = get_global_id(0);
  uint largest = 0, bad = NO_ROW;
  bool off = false;
  out += out_first + block * dims * BLOCK;
  for (uint d = 0; d < dims; ++d)
    for (uint b = 0; b < BLOCK; ++b) {
      const size_t r = block * BLOCK + b;
      const uint number = r < rows ? NUMBER(r) : 0;
      const uint value = r < rows ? landed(from + first + number * stride, COLUMN(d), cols) : 0;
      out[(size_t)d * BLOCK + b] = value;
      if (r < rows && IS_OFF(value)) off = true;
      largest = max(largest, value & MAGNITUDE_BITS);
      if ((value & MAGNITUDE_BITS) >= INFINITY_BITS) bad = min(bad, first_row + number);
    }
#if ELEMENT != BITS
  if (largest > 0) atomic_max(found + found_first, largest);
  if (bad != NO_ROW) atomic_min(found + found_first + 1, bad);
  if (off) atomic_max(found + found_first + 2, 1u);
#endif
}

#endif
