// --groups-column: a column of text files names the group of each row; a query asks the rows of its group.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "command/input/training.hpp"

namespace kith::command {

void add_group_option(CLI::App& app, TrainingFlags& flags);

/// Lets the files be read with their group column, as one more column that is no value. Before they are read.
/// Throws invalid_argument: the rows are those of an index file, are divided among ranks, or are no text.
void read_groups(const std::string& where, TrainingFlags& flags);

/// Divides the training rows into their groups.
/// Throws invalid_argument: the rows of a group are not side by side.
void take_groups(const TrainingFlags& flags, Training& training);

/// Returns the borders of the queries of each group of training rows; empty without --groups-column.
/// Throws invalid_argument: there is no such column; groups without training rows, or in another order.
std::vector<std::int64_t> groups_of(const Rows& queries, const TrainingFlags& flags,
                                    const Training& training);

}  // namespace kith::command
