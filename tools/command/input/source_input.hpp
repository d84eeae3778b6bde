// Training rows that stay in their file, or in memory, and are copied to the device in parts.
#pragma once

#include "command/input/learned.hpp"
#include "kith/index.hpp"

namespace kith::command {

/// Adds the keys of --place for the rows of --train or --index: residence, placement, shares.
std::vector<Key> rows_keys(TrainingFlags& flags);

/// Checks the residence against other options. Call it after take_index().
///   rows  whether they are needed in host memory, too
/// Throws invalid_argument: a residence with an option that needs an index on the device, or with ranks.
void take_residence(const CLI::App& app, RowFlags& flags, bool rows);

/// Returns whether the training rows are only read by ranges: a residence is given, the file supports it, and
/// no option prepares them or needs them in memory.
bool reads_by_ranges(const TrainingFlags& flags);

/// Returns the table of such a file, without its rows, and its Source.
files::Table source_table(const TrainingFlags& flags, Training& training);

/// Returns the training rows as a Source: of their file, or of memory, which `training` then owns.
std::shared_ptr<const Source> source_of(const Training& training);

}  // namespace kith::command
