// Which rows of an index file are there, and what they are called.
#pragma once

#include <vector>

#include "index_file/index_layout.hpp"
#include "rows/index_state.hpp"

namespace kith {

/// The bytes of sections that say so; empty where there is none.
struct IndexNumbers {
  std::vector<unsigned char> positions, ids, removed;
};

/// Give `state` the numbers of its rows, and what is removed.
/// Throws bad_file: numbers that do not ascend or leave what the head says of them, other rows removed than
/// it counts.
void take_numbers(const IndexLayout& layout, const IndexNumbers& from, Index::State& state);

}  // namespace kith
