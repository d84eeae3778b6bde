// What a filter keeps, and how many neighbours are searched for so that enough of them pass it.
#pragma once

#include <cstdint>

#include "kith/matrix_view.hpp"

namespace kith {

/// Rows that count for one of the filters: of many, for the one of a sample that keeps the fewest.
///   filters  [any, ceil(n / 32)]
std::int64_t fewest_kept(MatrixView<const std::uint32_t> filters, std::int64_t n);

/// Whether so many of n rows are enough to search all of them.
bool keeps_most(std::int64_t kept, std::int64_t n);

/// As many neighbours as have k among them that count, by three deviations where rows are kept by chance, and
/// always where few are struck out.
///   returns  k ... n
std::int64_t places_to_search(std::int64_t k, std::int64_t kept, std::int64_t n);

}  // namespace kith
