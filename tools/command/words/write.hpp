// --write KEY=VALUE,...: how results are written.
#pragma once

#include <string>
#include <vector>

#include "command/shared/output_file.hpp"
#include "command/words/keys.hpp"

namespace kith::command {

/// Adds --write with only these keys.
void add_write_option(CLI::App& app, std::vector<Key> keys);

/// Adds --write with the keys format and header, and then `more`.
void add_output_options(CLI::App& app, OutputFlags& flags, const std::vector<Key>& more = {});

/// Returns the key class-names of --write.
Key class_names_key(std::vector<std::string>& names);

}  // namespace kith::command
