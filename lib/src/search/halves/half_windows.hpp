// Rows on their way into memory of halves, some at a time.
#pragma once

#include <cstdint>

#include "kith/matrix_view.hpp"
#include "rows/landed/landed_rows.hpp"
#include "search/halves/half_store.hpp"

namespace kith {

/// Put rows of a caller, which are on the host, to places from `first` on, which are claimed; given back
/// where this throws. The device checks the rows.
///   returns  max |element|
/// Throws as prepare_rows() does, and out_of_memory.
float put_in_halves(HalfStore& store, const Device& device, std::int64_t first, const RowsView& rows,
                    const Landing& how);
/// The same of prepared rows, all values of which are such halves.
void put_in_halves(HalfStore& store, Element element, std::int64_t first, MatrixView<const float> rows,
                   std::uint32_t threads);

}  // namespace kith
