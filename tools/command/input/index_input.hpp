// --index FILE in place of --train: training rows that an index file holds.
#pragma once

#include <string>

#include "command/input/learned.hpp"

namespace kith::command {

/// --index; --train need not be given then. After add_table_options().
void add_index_option(CLI::App& app, TrainingFlags& flags);

/// Take from the index file what is decided there, where --index is given: the metric, and that queries are
/// bits. Before other options are checked.
///   rows  they are needed in host memory, too: somebody asks about them, or shows them
/// Throws invalid_argument: --index beside an option that it decides; neither --train nor --index; a file of
///                          cosine where rows are needed, which holds unit rows.
///        bad_file:         as index_file_info() does.
void take_index(const CLI::App& app, RowFlags& flags, bool rows);

/// The table of an index file, for queries and answers: its rows where flags.index_rows says so.
files::Table index_table(const TrainingFlags& flags, Training& training);

/// Open an index file, with a line on stderr where it takes long.
///   placing  its placement and shares
Index open_index_file(const std::string& path, const Device& device, const IndexOptions& placing);

}  // namespace kith::command
