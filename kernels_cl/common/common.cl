// What all kernels share: the key of a candidate, and the parts of a row of distances. Names and bits are
// those of lib/include/kith/key.hpp; docs/contract.md, section 2, defines them.
#pragma OPENCL FP_CONTRACT OFF

// Inlines functions that take arrays, so that these stay in registers, and functions that are phases of
// a kernel.
#define ALL_INLINE __attribute__((always_inline))

// The place of a matrix in its memory, like spi::Grid: first element and stride, in elements.
typedef struct {
  ulong first, stride;
} Place;

// The queries and training rows that a kernel takes, counted from the beginning of their memory.
typedef struct {
  uint q_first, q_rows, t_first, t_rows, dims;
} Sides;

typedef ulong Key;  // ordered(value) << 32 | row; a smaller key is nearer

#define NO_KEY 0xFFFFFFFFFFFFFFFFul  // pads short lists; it comes after every candidate
#define NO_ROW 0xFFFFFFFFu
#define NO_VALUE 0xFFFFFFFFu  // ordered() of a masked pair, and the upper half of NO_KEY

#define MASKED 0x7FFFFFFFu  // the bits of a NaN that ordered() orders behind +infinity

// Returns a float as an unsigned number in the same order; -0 becomes +0. The only NaN is that of a masked
// pair (mask.cl), which comes after +infinity, as NO_VALUE.
uint ordered(float value) {
  const uint bits = as_uint(value == 0.0f ? 0.0f : value);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

Key make_key(float value, uint row) {
  return (Key)ordered(value) << 32 | row;
}

// Returns the value of a key. It is +infinity for NO_KEY and masked pairs, so that `value <= value_of(bound)`
// keeps every value whose key is below the bound.
float value_of(Key key) {
  const uint code = (uint)(key >> 32);
  return code == NO_VALUE ? INFINITY : as_float(code >> 31 ? code & 0x7FFFFFFFu : ~code);
}

// Compare-exchanges two keys: the smaller one becomes the first.
void order_keys(Key* a, Key* b) {
  const Key x = *a, y = *b;
  const bool swap = y < x;
  *a = swap ? y : x;
  *b = swap ? x : y;
}

// Part g of `parts` consists of columns first_column(g) ... first_column(g + 1) - 1 of `columns`.
uint first_column(uint g, uint columns, uint parts) {
  const ulong width = ((ulong)columns + parts - 1) / parts;
  return (uint)min((ulong)columns, g * width);
}
