// --place KEY=VALUE,...: where the rows of a search lie, and how much of a machine it may use.
#pragma once

#include <vector>

#include "command/words/keys.hpp"

namespace kith::command {

/// Adds --place with only these keys.
CLI::Option* add_place_option(CLI::App& app, std::vector<Key> keys);

/// Adds --how, and --place with the keys `rows` and then memory-limit and threads.
void add_plan_options(CLI::App& app, PlanFlags& flags, std::vector<Key> rows);

}  // namespace kith::command
