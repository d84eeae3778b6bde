// Stores the rows of a new Index as its device, or set of devices, keeps them.
#pragma once

#include <memory>

#include "kith/options.hpp"
#include "search/stores/index_rows.hpp"
#include "search/stores/row_store.hpp"

namespace kith {

/// Throws as put_rows() and set_layout() do.
std::shared_ptr<const RowStore> new_store(const RowSchema& schema, const RowsForIndex& given,
                                          const IndexOptions& options);

}  // namespace kith
