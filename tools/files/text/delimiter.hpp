// What separates the cells of a text file, by name or guessed from its first records.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "files/formats.hpp"
#include "files/text/lines.hpp"

namespace kith::files {

using Record = std::vector<std::string>;

/// The delimiter that a file's ending stands for.
char delimiter_of(Format format);

/// `";"`, `a tab`: a delimiter as messages say it.
std::string delimiter_text(char delimiter);

/// A delimiter by its sign or name: comma, semicolon, tab, pipe, space, colon.
/// Throws invalid_argument: it can be none.
char delimiter_named(const std::string& text);

/// `,` or `.`, or comma, point. Throws invalid_argument: neither.
char decimal_named(const std::string& text);

/// The beginning of a file, and how its quotes are read.
struct TextHead {
  std::string_view text;
  Quotes quotes = Quotes::automatic;
};

/// The first records of a file, and of each the line that it begins in, counted from 1 in the head.
struct Sample {
  std::vector<Record> records;
  std::vector<std::int64_t> lines;
};

/// As far as they can be read.
Sample read_sample(Source& source, const TextHead& head, char delimiter);

/// Whether a column's cells below the first record, marks of missing values aside, are numbers.
struct ColumnKind {
  bool numeric = false, commas = false, points = false, decimal_comma = false;
};

ColumnKind kind_of_column(const std::vector<Record>& sample, std::size_t column, char delimiter);

/// What separates the cells of `head`.
///   own   the delimiter of the file's ending, which another must be better than
///   like  the training table's, which decides among several as good; 0: there is none
/// Throws bad_file: it is ambiguous; the message says --delimiter.
char guess_delimiter(Source& source, const TextHead& head, char own, char like);

}  // namespace kith::files
