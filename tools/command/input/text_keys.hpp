// --csv and --limits: how text files are read, and how large the parts of files may be.
#pragma once

#include <string>

#include "command/input/tables.hpp"
#include "command/shared/keys.hpp"

namespace kith::command {

/// --csv, whose keys set flags.reading and flags.svm_base.
Topic csv_topic(TableFlags& flags);

/// --limits, whose keys set flags.reading.limits.
Topic limits_topic(TableFlags& flags);

/// A separator by its sign or name: comma, semicolon, tab, pipe, space, colon.
/// Throws invalid_argument: it can be none.
char separator_named(const std::string& text);

/// `,` or `.`, or comma, point. Throws invalid_argument: neither.
char decimal_named(const std::string& text);

/// utf-8, latin-1 (iso-8859-1), windows-1252 (cp1252), utf-16, utf-16le, utf-16be, in any case, `-` and `_`
/// left out or not. Throws invalid_argument: nothing is called so.
files::Encoding encoding_named(const std::string& name);

}  // namespace kith::command
