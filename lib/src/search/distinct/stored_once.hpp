// Stores equal rows once on one device, if that was asked for or pays.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "kith/options.hpp"
#include "search/distinct/distinct_store.hpp"

namespace kith {

/// Stores rows by `make`; equal rows once if IndexOptions::deduplicate asks for it, or if it pays.
/// Throws what `make` throws for all rows.
std::shared_ptr<const RowStore> stored_once(const RowSchema& schema, const RowsForIndex& given,
                                            const IndexOptions& options, const MakeStore& make);

/// Does the same for prepared rows, by stored_on_device().
///   reserve, deduplicate  as in IndexOptions
std::shared_ptr<const RowStore> stored_once(const RowSchema& schema, MatrixView<const float> rows,
                                            float largest, std::int64_t reserve,
                                            std::optional<bool> deduplicate);

}  // namespace kith
