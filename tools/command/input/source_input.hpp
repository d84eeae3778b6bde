// Training rows that stay in their file, or in memory, and pass through the device.
#pragma once

#include "command/input/learned.hpp"
#include "kith/index.hpp"

namespace kith::command {

/// The keys of --place about the rows of --train or --index: residence, placement, shares.
std::vector<Key> rows_keys(TrainingFlags& flags);

/// What the residence has to do with other options, after take_index().
///   rows  they are needed in host memory, too
/// Throws invalid_argument: a residence beside an option that needs an index on the device, or with ranks.
void take_residence(const CLI::App& app, RowFlags& flags, bool rows);

/// Whether the training rows are read by ranges alone: a residence is given, their file allows for it, and
/// nobody looks at them or prepares them.
bool reads_by_ranges(const TrainingFlags& flags);

/// The table of such a file, without its rows, and its Source.
files::Table source_table(const TrainingFlags& flags, Training& training);

/// The training rows as a Source: of their file, or of memory, which `training` then keeps.
std::shared_ptr<const Source> source_of(const Training& training);

}  // namespace kith::command
