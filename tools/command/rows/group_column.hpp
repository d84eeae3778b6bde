// --groups-column: a column of text files names the group of each row; a query asks the rows of its group.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "command/input/training.hpp"

namespace kith::command {

void add_group_option(CLI::App& app, TrainingFlags& flags);

/// Throws invalid_argument: there is --groups-column, and the rows are those of an index file, or are divided
/// among ranks.
void check_groups(const std::string& where, const TrainingFlags& flags);

/// Divides the training rows into their groups, if they have a column of these.
/// Throws invalid_argument: the rows of a group are not side by side.
void take_groups(const TableFlags& flags, Training& training);

/// Returns the borders of the queries of each group of training rows; empty without --groups-column.
/// Throws invalid_argument: there is no such column; groups without training rows, or in another order.
std::vector<std::int64_t> groups_of(const Rows& queries, const TableFlags& flags, const Training& training);

}  // namespace kith::command
