// Finds the distinct values among many.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kith {

/// Returns the distinct values, ascending. Needs memory only for these, not for all of `values`.
std::vector<std::int64_t> distinct(std::span<const std::int64_t> values);

}  // namespace kith
