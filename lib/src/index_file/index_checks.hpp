// What the head of an index file may say.
#pragma once

#include <cstdint>

#include "index_file/index_layout.hpp"

namespace kith {

/// Nothing that the fields of a head tell is believed, nor memory made for it, before this. Takes from the
/// table of sections what `layout` has beside these fields.
///   bytes  of the file
/// Throws bad_file: "byte N: ...".
void check_layout(IndexLayout& layout, std::uint64_t bytes);

}  // namespace kith
