// --index FILE in place of --train: training rows that an index file holds.
#pragma once

#include <string>

#include "command/input/learned.hpp"
#include "files/source.hpp"
#include "kith/index_file.hpp"

namespace kith::command {

/// --index; --train need not be given then. After add_table_options().
void add_index_option(CLI::App& app, TrainingFlags& flags);

/// Take from the index file what is decided there, where --index is given: the metric, and that queries are
/// bits. Before other options are checked.
///   rows  they are needed in host memory, too: somebody asks about them, or shows them
/// Throws invalid_argument: --index beside an option that it decides; neither --train nor --index.
///        unsupported:      a file of cosine where rows are needed, which holds unit rows; files that belong
///                          to rows beside rows that were removed or have ids.
///        bad_file:         as index_file_info() does.
void take_index(const CLI::App& app, RowFlags& flags, bool rows);

/// The table of an index file, for queries and answers: its rows where flags.index_rows says so.
files::Table index_table(const TrainingFlags& flags, Training& training);

/// What open(OpenOptions) returns, with a line on stderr where it takes long.
template <class Open>
auto opening_index_file(const std::string& path, const Open& open) {
  ActivityLine activity("opening " + files::shown_name(path));
  OpenOptions options;
  options.stop = interrupt_token();
  options.progress = [&](double part) { activity.update(part); };
  return open(options);
}

/// Open an index file, so.
///   placing  its placement and shares
Index open_index_file(const std::string& path, const Device& device, const IndexOptions& placing);

}  // namespace kith::command
