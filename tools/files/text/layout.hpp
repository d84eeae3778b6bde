// How a text file is laid out: what separates cells, and whether the first line names the columns. What two
// readings could be right about is refused with the key of --csv that decides. docs/contract.md, section 9,
// has the rules.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/formats.hpp"
#include "files/table.hpp"
#include "files/text/lines.hpp"

namespace kith::files {

/// What separates cells, as people call it; all but a colon are looked for.
inline constexpr std::array<std::pair<std::string_view, char>, 6> separator_names = {
    {{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"pipe", '|'}, {"space", ' '}, {"colon", ':'}}};

struct Layout {
  char separator = ',';   ///< ' ': any run of spaces and tabs
  std::int64_t skip = 0;  ///< lines at the top that are left out
  Sample sample;          ///< the first records after them
};

/// The layout of a file of which nothing was read. A separator that the ending of its name does not stand for
/// is told by options.note. Throws bad_file: it is ambiguous.
Layout find_layout(Source& source, RecordReader& records, Format format, const FileOptions& options);

/// Whether the first record names the columns.
///   like   the training table, or null
///   named  columns that the caller asks for
/// Throws bad_file: it may be names or values.
bool find_header(const Source& source, const Sample& sample, const FileOptions& options, const Table* like,
                 const std::vector<std::string>& named);

/// Whether pandas calls the index of a table so in a file, which it writes before the columns.
bool is_index_name(const std::string& name);

}  // namespace kith::files
