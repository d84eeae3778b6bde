// Joins what members of a set found into the lists of the whole search.
#pragma once

#include <vector>

#include "kith/keys.hpp"
#include "search/lists/key_buffers.hpp"

namespace kith {

/// Appends lists of successive queries. There is at least one part.
Keys appended(std::vector<Keys> parts);
RadiusKeys appended(std::vector<RadiusKeys> parts);

/// Merges lists of the same queries, and keeps the nearest. There is at least one part.
///   buffers  gets the memory of the parts, and gives that of the result
Keys united(std::vector<Keys> parts, KeyBuffers& buffers);
RadiusKeys united(std::vector<RadiusKeys> parts);

}  // namespace kith
