// Whether the first record of a text file names its columns. docs/contract.md, section 9, has the rules.
#pragma once

#include <string>
#include <vector>

#include "files/text/layout.hpp"

namespace kith::files {

struct HeaderGuess {
  bool header = false;
  std::string note;  ///< what is told about it: `takes its first line ...; say ...`; empty: it is plain
};

/// Guess from the first records of a file.
///   like   the training table, or null
///   named  names or numbers of columns that the caller asks for
HeaderGuess guess_header(const Layout& layout, const Table* like, const std::vector<std::string>& named);

/// Whether pandas calls the index of a table so in a file, which it writes before the columns.
bool is_index_name(const std::string& name);

}  // namespace kith::files
