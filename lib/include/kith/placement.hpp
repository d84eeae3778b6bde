// Distributes the rows of an Index over a set of devices: docs/howto/device-sets.md.
#pragma once

#include <string_view>

#include "kith/choices.hpp"
#include "kith/export.hpp"

namespace kith {

/// Returns `automatic`, `split` or `replicate`.
KITH_API std::string_view name(Placement placement);

}  // namespace kith
