// --index FILE in place of --train: reads training rows from an index file.
#pragma once

#include <string>

#include "command/input/learned.hpp"
#include "files/source.hpp"
#include "kith/index_file.hpp"

namespace kith::command {

/// Adds --index; --train is then optional. Call it after add_table_options().
void add_index_option(CLI::App& app, TrainingFlags& flags);

/// Takes from the index file, if --index is given, what it decides: the metric, and whether queries are
/// bits. Call it before other options are checked.
///   rows  whether the rows are needed in host memory, too: to answer queries about them, or to show them
/// Throws invalid_argument: --index beside an option that it decides; neither --train nor --index.
///        unsupported:      a file of cosine where rows are needed, which holds unit rows; files that belong
///                          to rows beside rows that were removed or have ids.
///        bad_file:         as index_file_info() does.
void take_index(const CLI::App& app, RowFlags& flags, bool rows);

/// Returns how the index of a file computes.
Arithmetic arithmetic_of(const IndexFileInfo& info);

/// Returns the table of an index file, for queries and answers: with its rows if flags.index_rows is set.
files::Table index_table(const TrainingFlags& flags, Training& training);

/// Returns the result of open(OpenOptions), and writes a line on stderr if it takes long.
template <class Open>
auto opening_index_file(const std::string& path, const Open& open) {
  ActivityLine activity("opening " + files::shown_name(path));
  OpenOptions options{.stop = interrupt_token()};
  options.progress = [&](double part) { activity.update(part); };
  return open(options);
}

/// Opens an index file on a device.
///   placing  placement and shares of the index
Index open_index_file(const std::string& path, const Device& device, const IndexOptions& placing);

}  // namespace kith::command
