#include "files/text/layout.hpp"

#include <algorithm>

#include "files/shown.hpp"
#include "files/text/decorated.hpp"
#include "files/text/number.hpp"

namespace kith::files {
namespace {

constexpr std::size_t sample_bytes = std::size_t{1} << 16;
constexpr std::size_t sample_lines = 4;
/// A first line `sep=;`, which tells Excel what separates cells; it is taken off `head`. 0: there is none.
char take_separator_line(std::string_view& head) {
  std::string_view line = head.substr(head.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
  const std::size_t end = line.find_first_of("\r\n");
  if (end == std::string_view::npos) return 0;
  const std::size_t next = line.find_first_not_of("\r\n", end);
  std::string_view rest = line.substr(std::min(next, line.size()));
  line = line.substr(0, end);
  if (line.size() > 2 && line.front() == '"' && line.back() == '"') line = line.substr(1, line.size() - 2);
  if (line.size() != 5 || (!line.starts_with("sep=") && !line.starts_with("SEP="))) return 0;
  head = rest;
  return line.back();
}

/// Lines at the top that begin with #, where others follow.
struct Comments {
  std::size_t lines = 0;
  std::string_view last;  ///< of them
  std::string_view rest;  ///< what follows
};

Comments leading_comments(std::string_view head) {
  const char line_end = head.find('\n') == std::string_view::npos ? '\r' : '\n';
  Comments found;
  found.rest = head.substr(head.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
  while (found.rest.starts_with('#')) {
    const std::size_t size = std::min(found.rest.find(line_end), found.rest.size() - 1) + 1;
    found.last = found.rest.substr(0, size);
    found.rest.remove_prefix(size);
    ++found.lines;
  }
  if (found.rest.empty()) return {0, {}, head};  // there is nothing else
  return found;
}

/// Names, not numbers or marks of missing values, in each of as many columns as there are.
bool is_names(const Record& record, std::size_t columns) {
  return record.size() == columns && std::all_of(record.begin(), record.end(), [](const std::string& cell) {
           return !is_missing_marker(cell) && parse_number(cell).kind == Number::not_a_number;
         });
}

/// What the last comment is: names of the columns, or after all a row, or no more than a comment.
void take_last_comment(Source& source, const Comments& comments, Quotes quotes, Layout& layout) {
  const auto cells_of = [&](std::string_view line) {
    const std::vector<Record> one = read_sample(source, {line, quotes}, layout.delimiter).records;
    return one.empty() ? Record() : one[0];
  };
  const std::size_t columns = layout.sample[0].size();
  const bool named = is_names(layout.sample[0], columns);
  const Record row = cells_of(comments.last);
  const Record names = cells_of(comments.last.substr(comments.last.find_first_not_of('#')));
  if (!named && is_names(names, columns)) {
    layout.names = names;
  } else if (row.size() == columns && !is_names(names, columns)) {
    layout.sample.insert(layout.sample.begin(), row);
    --layout.left_out;
  }
}

void tell(const FileOptions& options, const Source& source, const std::string& text) {
  if (options.note) options.note(source.name() + ": " + text);
}

/// The sign of decimals, where some cells have commas that are nothing else and none has a point.
void find_decimal(Source& source, const FileOptions& options, const Table* like, Layout& layout) {
  if (options.decimal) {
    layout.decimal = options.decimal;
    return;
  }
  if (layout.sample.empty()) return;
  std::string example;
  bool points = false;
  for (std::size_t c = 0; c < layout.sample[0].size(); ++c) {
    const ColumnKind kind = kind_of_column(layout.sample, c, layout.delimiter);
    points |= kind.points;
    for (std::size_t r = 0; kind.decimal_comma && example.empty() && r < layout.sample.size(); ++r)
      if (c < layout.sample[r].size() && is_decimal_comma(layout.sample[r][c])) example = layout.sample[r][c];
  }
  if (points) return;
  if (example.empty()) {
    if (like && like->decimal) layout.decimal = like->decimal;
    return;
  }
  layout.decimal = ',';
  tell(options, source,
       "reads " + in_quotes(example) + " as a number with a decimal comma; say --decimal to decide");
}

}  // namespace

/// `head` without its first lines.
std::string_view without_lines(Source& source, std::string_view head, std::int64_t lines) {
  const char line_end = head.find('\n') == std::string_view::npos ? '\r' : '\n';
  for (std::int64_t line = 0; line < lines; ++line) {
    const std::size_t end = head.find(line_end);
    if (end == std::string_view::npos || end + 1 == head.size())
      source.fail("has " + count_of(static_cast<std::uint64_t>(line + 1), "line") + ", and skip=" +
                  std::to_string(lines) + " leaves none; say --csv skip= with the lines above the table");
    head.remove_prefix(end + 1);
  }
  return head;
}

bool is_padded_title(const Record& record) {
  constexpr std::ptrdiff_t cells_of_a_table = 3;
  const auto empty = std::count(record.begin(), record.end(), "");
  return static_cast<std::ptrdiff_t>(record.size()) >= cells_of_a_table &&
         empty + 1 == static_cast<std::ptrdiff_t>(record.size()) && !record[0].empty();
}

/// Where a table may begin behind lines that have fewer cells than all others, or one beside empty ones above
/// names; 0: with the first line.
std::size_t first_of_table(const std::vector<Record>& records) {
  constexpr std::size_t most_above = 50;
  if (records.size() < 2) return 0;
  const std::size_t cells = records.back().size();
  if (records[0].size() == cells) return is_padded_title(records[0]) && is_names(records[1], cells) ? 1 : 0;
  std::size_t first = records.size() - 1;
  while (first > 0 && records[first - 1].size() == cells) --first;
  const bool enough = records.size() - first >= std::min<std::size_t>(first + 1, 2);
  return records[0].size() < cells && first <= most_above && enough ? first : 0;
}

/// Refuse lines above a table.
///   before  lines that are left out already
void refuse_lines_above(Source& source, const Sample& sample, std::size_t before) {
  const std::vector<Record>& records = sample.records;
  const std::size_t first = first_of_table(records);
  if (first == 0) return;
  const std::size_t cells = records[first].size();
  const std::int64_t above = static_cast<std::int64_t>(before), top = sample.lines[0] + above,
                     begin = sample.lines[first] + above;
  const std::string skip =
      "; if the table begins there, say --csv skip=" + std::to_string(begin - 1) + ", else ";
  std::string why = "has " + count_of(records[0].size(), "cell");
  if (records[0].size() == cells)
    why = "has one cell that is not empty, above line " + std::to_string(begin) + " with names" + skip +
          "fill the cells in";
  else if (records[0].size() + 1 == cells &&
           std::all_of(records.begin() + static_cast<std::ptrdiff_t>(first), records.end(),
                       [](const Record& record) { return record.back().empty(); }))
    why +=
        ", and the other lines end with a separator; end this line with one, too, or take it off the others";
  else
    why += ", but line " + std::to_string(begin) + " and those behind it have " + std::to_string(cells) +
           skip + "give every row as many cells";
  throw Error(Errc::bad_file, source.name() + ":" + std::to_string(top) + ": " + why);
}

Layout find_layout(Source& source, LineReader& lines, Format format, const FileOptions& options,
                   const Table* like) {
  Layout layout;
  std::string_view head = lines.head(sample_lines + static_cast<std::size_t>(options.skip), sample_bytes);
  head = without_lines(source, head, options.skip);
  const char named = take_separator_line(head);
  const Comments comments = leading_comments(head);
  const TextHead table{comments.rest, options.quotes};
  layout.left_out = comments.lines;
  const char own = delimiter_of(format);
  layout.delimiter = options.delimiter ? options.delimiter : named;
  if (named)
    tell(options, source, "leaves out its first line, \"sep=" + shown_in_line(std::string(1, named)) + "\"");
  if (!layout.delimiter) {
    layout.delimiter = guess_delimiter(source, table, own, like ? like->delimiter : '\0');
    if (layout.delimiter != own)
      tell(options, source,
           "its cells are separated by " + delimiter_text(layout.delimiter) + " (a " +
               ending_of(source.name()) + " file has " + delimiter_text(own) +
               "); say --delimiter to decide");
  }
  Sample sample = read_sample(source, table, layout.delimiter);
  const std::size_t before = comments.lines + (named != 0) + static_cast<std::size_t>(options.skip);
  refuse_lines_above(source, sample, before);
  layout.sample = std::move(sample.records);
  if (comments.lines > 0 && !layout.sample.empty())
    take_last_comment(source, comments, options.quotes, layout);
  if (layout.left_out > 0)
    tell(options, source,
         "leaves out " + count_of(layout.left_out, "line") + " at its top that " +
             (layout.left_out == 1 ? "begins" : "begin") + " with \"#\"" +
             (layout.names.empty() ? "" : " and takes the names of columns from there"));
  layout.left_out += static_cast<std::size_t>(options.skip) + (named != 0);
  find_decimal(source, options, like, layout);
  return layout;
}

}  // namespace kith::files
