// Finds the group of a query, and its rows.
// No twin in kernels_cuda: groups.cu has it beside its kernel.
#include "common/common.cl"

// What a step of groups has besides its matrices: Shape of groups.cpp.
typedef struct {
  uint borders, first_query, first_row, k;
  uint from_group;  // keys count rows from the first of the group
  uint asks_itself, own;
} Shape;

// The rows of a group.
typedef struct {
  uint begin, end;  // in the memory of training rows
  uint shift;       // turns a row of the memory into the row of a key, modulo 2^32
  uint own;         // row of the memory that does not count; NO_ROW: none
} Range;

// Returns the rows that query q of the step asks.
Range range_of(uint q, uint t_first, const Shape shape, global const uint* query_borders,
               global const uint* row_borders) {
  const uint number = shape.first_query + q;
  uint group = 0, end = shape.borders - 1;  // the group is one of group ... end - 1
  while (end - group > 1) {
    const uint middle = group + (end - group) / 2;
    if (query_borders[middle] <= number)
      group = middle;
    else
      end = middle;
  }
  const uint first = row_borders[group], to_memory = t_first - shape.first_row;  // wraps around, and back
  Range range;
  range.begin = first + to_memory;
  range.end = row_borders[group + 1] + to_memory;
  range.shift = 0u - to_memory - (shape.from_group ? first : 0u);
  range.own = shape.asks_itself ? shape.own + number + to_memory : NO_ROW;
  return range;
}
