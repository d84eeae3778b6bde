// Checks the head of an index file.
#pragma once

#include <cstdint>

#include "index_file/index_layout.hpp"

namespace kith {

/// Checks all fields of a head; before this none is trusted, and no memory is allocated for them. Sets the
/// members of `layout` that follow from the table of sections.
///   bytes  size of the file
/// Throws bad_file: "byte N: ...".
void check_layout(IndexLayout& layout, std::uint64_t bytes);

}  // namespace kith
