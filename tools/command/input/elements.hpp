// The key element of --read: what rows are stored as, on their way from a file to the library.
#pragma once

#include <string>
#include <vector>

#include "command/input/tables.hpp"
#include "kith/metric.hpp"

namespace kith::command {

/// Of --read, for subcommands whose rows go to the library as they are.
Key element_key(TableFlags& flags);

/// Throws invalid_argument: an element with an option that makes float32 of rows; bits without --metric
/// hamming, or the other way round.
void check_element_flags(const CLI::App& app, const TableFlags& flags, Metric metric);

/// What readers need not widen: files::ReadOptions::keep.
std::vector<Element> kept_elements(const TableFlags& flags);

/// Store the rows as the element that is asked for, if any is. Throws invalid_argument: the first value that
/// the element does not have, by row and column; bits of a file that holds no bytes.
void store_as_asked(const TableFlags& flags, files::Table& table);

/// Columns as tables count them: of rows of `cols` bits, bytes. Throws unsupported: the last byte is not
/// full.
std::int64_t table_columns(const std::string& path, std::int64_t cols, bool bits);

/// The rows as they are stored, in whatever element.
RowsView rows_view(const files::Table& table);

}  // namespace kith::command
