// Counts the rows of an Index within radii, in whatever way its rows are kept.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kith/count_radii.hpp"
#include "kith/matrix_view.hpp"
#include "kith/trace.hpp"
#include "rows/index_state.hpp"
#include "search/lists/count_sum.hpp"
#include "search/resident/query_set.hpp"

namespace kith {

/// Throws invalid_argument: not 1 or m rows of radii, no radius, a NaN, radii that do not ascend.
void check_radii_of_counts(std::string_view where, const CountRadii& radii, std::int64_t m);

/// Returns bound_of() each radius, [1 or m, r].
///   Real  float, or double in double precision
template <class Real>
std::vector<Real> bounds_of_counts(ShownBy shown, const CountRadii& radii, std::uint32_t threads);

/// Checks and prepares `queries`, and adds up how many rows are within the radii.
///   queries  made or prepared
///   options  name rows by their places (MappedOptions)
void search_counts(const Index::State& index, QuerySet& queries, const CountRadii& radii,
                   const SearchOptions& options, CountSum& sum, Trace* trace);

}  // namespace kith
