// What members of a set found, as the lists of the whole.
#pragma once

#include <vector>

#include "kith/keys.hpp"
#include "search/lists/key_buffers.hpp"

namespace kith {

/// Lists of queries that follow each other. At least one part.
Keys appended(std::vector<Keys> parts);
RadiusKeys appended(std::vector<RadiusKeys> parts);

/// Lists of the same queries, the nearest of all. At least one part.
///   buffers  where the parts' memory goes, and that of the result comes from
Keys united(std::vector<Keys> parts, KeyBuffers& buffers);
RadiusKeys united(std::vector<RadiusKeys> parts);

}  // namespace kith
