// Reads which rows of an index file are removed, and their numbers.
#pragma once

#include <vector>

#include "index_file/index_layout.hpp"
#include "rows/index_state.hpp"

namespace kith {

/// Holds the bytes of these sections, cut to a part by section_of(); empty if there is no such section.
struct IndexNumbers {
  std::vector<unsigned char> positions, ids, removed;
};

/// Sets the numbers and the removed rows of `state`, which holds the rows of a part. Throws bad_file if
/// numbers do not ascend or are outside of what the head allows; or, if the file is read whole, if the count
/// of removed rows differs from the head.
void take_numbers(const IndexLayout& layout, const IndexPart& part, const IndexNumbers& from,
                  Index::State& state);

}  // namespace kith
