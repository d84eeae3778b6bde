// What every kernel shares: the key of a candidate, and the parts of a row of distances.
//
// Names and bits as in lib/include/kith/key.hpp; docs/contract.md, section 2.
#pragma OPENCL FP_CONTRACT OFF

// Functions that are given arrays, which then stay in registers, or that are phases of one kernel.
#define ALL_INLINE __attribute__((always_inline))

// Where the rows of a grid stand in its memory, as spi::Grid: counted in elements.
typedef struct {
  ulong first, stride;
} Place;

// Which rows of queries and of training rows a kernel takes, counted from the first of their memory.
typedef struct {
  uint q_first, q_rows, t_first, t_rows, dims;
} Sides;

typedef ulong Key;  // ordered(value) << 32 | row; a smaller key is nearer

#define NO_KEY 0xFFFFFFFFFFFFFFFFul  // pads short lists: behind every candidate
#define NO_ROW 0xFFFFFFFFu
#define NO_VALUE 0xFFFFFFFFu  // ordered() of a masked pair, and the upper half of NO_KEY

// A float as an unsigned number with the same order; -0 becomes +0. The only NaN is a masked pair (mask.cl),
// which comes behind +infinity, as NO_VALUE.
uint ordered(float value) {
  const uint bits = as_uint(value == 0.0f ? 0.0f : value);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

Key make_key(float value, uint row) {
  return (Key)ordered(value) << 32 | row;
}

// The value of a key; +infinity for NO_KEY and masked pairs, so that `value <= value_of(bound)` loses none.
float value_of(Key key) {
  const uint code = (uint)(key >> 32);
  return code == NO_VALUE ? INFINITY : as_float(code >> 31 ? code & 0x7FFFFFFFu : ~code);
}

// A compare-exchange: the smaller key first.
void order_keys(Key* a, Key* b) {
  const Key x = *a, y = *b;
  const bool swap = y < x;
  *a = swap ? y : x;
  *b = swap ? x : y;
}

// Group g of `groups` has columns first_column(g) ... first_column(g + 1) - 1 of `columns`.
uint first_column(uint g, uint columns, uint groups) {
  const ulong width = ((ulong)columns + groups - 1) / groups;
  return (uint)min((ulong)columns, g * width);
}
