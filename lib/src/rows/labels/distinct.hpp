// The different values among many.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kith {

/// Ascending, each once. Needs memory for those alone, not for all of `values`.
std::vector<std::int64_t> distinct(std::span<const std::int64_t> values);

}  // namespace kith
