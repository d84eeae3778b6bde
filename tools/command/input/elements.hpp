// The key element of --read: the type that rows are stored in on their way from a file to the library.
#pragma once

#include <string>
#include <vector>

#include "command/input/tables.hpp"
#include "kith/metric.hpp"

namespace kith::command {

/// Adds the key for subcommands that pass rows to the library unchanged.
Key element_key(TableFlags& flags);

/// Throws invalid_argument: an element together with an option that converts rows to float32; bits without
/// --metric hamming, or that metric without bits.
void check_element_flags(const CLI::App& app, const TableFlags& flags, Metric metric);

/// Returns the types that readers need not widen, for files::ReadOptions::keep.
std::vector<Element> kept_elements(const TableFlags& flags);

/// Stores the rows in the element type that is asked for, if any is. Throws invalid_argument: the first value
/// that the type cannot hold, by row and column; bits, but the file holds no bytes.
void store_as_asked(const TableFlags& flags, files::Table& table);

/// Returns the number of columns as tables count them: bytes, if rows have `cols` bits. Throws unsupported:
/// the last byte is not full.
std::int64_t table_columns(const std::string& path, std::int64_t cols, bool bits);

/// Returns the rows in the element type in which they are stored.
RowsView rows_view(const files::Table& table);

}  // namespace kith::command
