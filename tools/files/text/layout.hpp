// How a text file is laid out, guessed from its first lines: what separates cells, how numbers are written,
// and which lines at the top are comments. docs/contract.md, section 9, has the rules.
#pragma once

#include <cstddef>
#include <vector>

#include "files/formats.hpp"
#include "files/table.hpp"
#include "files/text/delimiter.hpp"
#include "files/text/lines.hpp"

namespace kith::files {

struct Layout {
  char delimiter = ',';        ///< ' ': any run of spaces and tabs
  char decimal = '.';          ///< or ','
  std::size_t left_out = 0;    ///< lines at the top
  Record names;                ///< of the columns, where the last of these lines has them; else empty
  std::vector<Record> sample;  ///< the first records after them, as many as were looked at
};

/// The layout of the file whose first lines `lines` has not given away yet.
///   like  the training table: where its layout is known, it decides what else is ambiguous; or null
/// Guesses are told by options.note, as `NAME: what; what to say`.
/// Throws bad_file: it is ambiguous; the message says --delimiter.
Layout find_layout(Source& source, LineReader& lines, Format format, const FileOptions& options,
                   const Table* like);

}  // namespace kith::files
