// Which rows of an index file are there, and what they are called.
#pragma once

#include <vector>

#include "index_file/index_layout.hpp"
#include "rows/index_state.hpp"

namespace kith {

/// The bytes of sections that say so, as section_of() cuts them to a part; empty where there is none.
struct IndexNumbers {
  std::vector<unsigned char> positions, ids, removed;
};

/// Give `state`, which holds the rows of a part, their numbers, and what of them is removed.
/// Throws bad_file: numbers that do not ascend or leave what the head says of them; in a file that is read
/// whole, other rows removed than it counts.
void take_numbers(const IndexLayout& layout, const IndexPart& part, const IndexNumbers& from,
                  Index::State& state);

}  // namespace kith
