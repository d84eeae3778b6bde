// How the rows of an Index lie on a set of devices: docs/howto/device-sets.md.
#pragma once

#include <string_view>

#include "kith/export.hpp"

namespace kith {

/// What each member of a set of devices holds. It changes no answer. A single device holds all rows.
enum class Placement {
  automatic,  ///< replicate where the rows are few (docs/howto/device-sets.md), else split
  split,      ///< a part of the rows; each query is searched for by all members
  replicate,  ///< all rows; the members share the queries
};

/// `automatic`, `split`, `replicate`.
KITH_API std::string_view name(Placement placement);
/// The placement of this name. Throws invalid_argument: there is none.
KITH_API Placement placement_named(std::string_view text);

}  // namespace kith
